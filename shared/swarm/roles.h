// Chooses the role of each member of a group in a round, so that the swarm takes the most steps an hour: DeDLOC's
// objective (arXiv 2106.10207, section 3.2). A round lasts as long as it takes to compute the target batch and to
// average.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "shared/protocol/group_info.h"
#include "shared/swarm/shares.h"
#include "shared/wire/codec.h"

namespace starling::swarm {

// A way to encode contributions.
struct CodecCost {
  wire::Codec codec = wire::Codec::fp32;
  double bytes_per_float = sizeof(float);
  double worth = 1;  // value of a sample that travels in it, in samples of full precision
};

// Returns `widest` and the codecs below it; without error feedback none that loses more than int8 does.
std::vector<CodecCost> narrower_codecs(wire::Codec widest, bool error_feedback);

// A member's line and speed, as measured in earlier rounds.
struct Volunteer {
  Link link;
  double samples_per_s = 0;  // 0: not known yet
  double reliance = 1;       // 0 … 1: how far its line has done its share
  double share_max = 1;      // 0 … 1: owns no more of the vector, unless nobody else could
};

// The round's sizes, its codecs and costs, and the roles that it allows.
struct RoleOptions {
  double vector_floats = 0;
  double target_batch = 0;              // samples; 0: nobody is demoted
  std::span<const CodecCost> codecs;    // by falling size; the first is everybody's where possible
  double result_bytes = sizeof(float);  // bytes of an averaged coordinate, encoded
  double overhead_s = 0;                // overhead of every averaging, beside the transfers
  bool overlapped = false;              // members compute while they average
  bool may_leave_out = true;            // else everybody has a place
  bool may_only_reduce = true;          // else every owner of a part contributes, too
};

// One member's part in the round.
struct Duty {
  wire::MemberRole role = wire::MemberRole::full;
  bool left_out = false;  // could not follow the others' rounds: gets no place in the plan
  std::size_t codec = 0;  // index in RoleOptions::codecs
  double share = 0;
  double ready_s = 0;  // from the start of the averaging until it holds the result
};

// The duties, in the volunteers' order, and the round's predicted times.
struct RoleChoice {
  std::vector<Duty> duties;
  double averaging_s = 0;  // until everybody who is not deferred holds the result
  // time that the owners need if nobody's own line holds them up; a member that keeps it is not demoted
  double unhurried_s = 0;
  double period_s = 0;  // duration of a whole round; 0 when nobody's computing speed is known
};

// Gives everybody `codecs.front()`; nobody is late.
RoleChoice everybody_alike(std::span<const Volunteer> volunteers, const RoleOptions& options);

// Returns the best choice found by trying times T that the line of a slow member (measured, and longer than unhurried_s
// at full width, and than usual) would just hold. Each T gets the widest codecs that hold it; a member that cannot take
// the result in T is deferred. In each of these choices, single members are changed while that helps: another codec,
// deferred or not, reducing only (auxiliary), or left out, samples and all, as long as most stay in. Demoting must pay:
// below kGainMin, the result is everybody_alike.
RoleChoice choose_roles(std::span<const Volunteer> volunteers, const RoleOptions& options);

constexpr double kGainMin = 1.03;  // gain in the period

}  // namespace starling::swarm
