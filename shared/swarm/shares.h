// Divides the vector among the members that reduce it, and predicts how long the round takes then.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace starling::swarm {

// The rates of a member's line, in bytes per second; 0 means not measured yet.
struct Link {
  double upload = 0;
  double download = 0;
  bool dialable = true;  // a member that nobody can dial owns no part
};

// Replaces unknown speeds by typical ones: the other direction's, or the median of the members' slower directions.
std::vector<Link> with_typical_speeds(std::span<const Link> links);

// Makes speeds equal, at their mean, if they differ by no more than the measurement's error. Shares that followed the
// differences would keep them up: a member that owns more than its line carries ends alone, sees a free line then, and
// owns still more.
std::vector<Link> with_like_speeds(std::span<const Link> links);

// A member's work in a round, beside the share it owns. The link's speeds are known.
struct Load {
  Link link;
  double sent_bytes = sizeof(float);  // bytes of a coordinate it contributes, encoded; 0: it contributes nothing
  bool late = false;                  // gets results as fast as its line takes them; nobody waits for that
  double reliance = 1;                // the fraction of the part that its line could own that is entrusted to it
  double share_max = 1;               // owns no more of the vector, unless all limits together leave some of it over
};

// The vector all of them average.
struct Vector {
  double floats = 0;
  double result_bytes = sizeof(float);  // bytes of an averaged coordinate, encoded
};

struct Shares {
  std::vector<double> of;  // in the order of the loads; sum to 1, or to 0 where nobody may own anything
  double owners_s = 0;     // until the owners could be done, whatever holds up the others
  double round_s = 0;      // until everybody is done who is not late; infinite where nobody may own anything
};

// Returns the shares that minimise the time of a butterfly all-reduce. With c the coordinate's bytes of a contribution,
// r of a result, R members that get results in time and D the speed at which late ones take them, a member with share s
//   sends     c (1 - s) + r s (R - 1) vectors, and s D bytes a second beside that
//   receives  s (sum of the others' c) + r (1 - s) vectors.
// Both are linear in s, so a time T allows it a largest share; the least T whose largest shares sum to 1 is the optimum
// of the linear programme of DeDLOC (arXiv 2106.10207, section 3.2), here with both directions and codecs of their own.
// Two members share in proportion to speed. Where nobody can be dialled, everybody owns.
Shares share_out(std::span<const Load> loads, const Vector& vector);
// The least time in which the owners can be done, whatever holds up the others.
double owners_seconds(std::span<const Load> loads, const Vector& vector);
// share_out's round_s alone, in a fraction of the time.
double round_seconds(std::span<const Load> loads, const Vector& vector);

// Splits whole coordinates by shares: largest remainders, so that the sum is exactly vector_floats.
std::vector<std::int64_t> split_vector(std::int64_t vector_floats, std::span<const double> shares);

}  // namespace starling::swarm
