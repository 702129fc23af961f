// The bound on what one member can do to an average. A member's *square* is the squared Euclidean norm of its mean
// gradient, ||v / w||^2, with v the sum that it brings and w its samples. A contribution whose square is more than
// c^2 times what is usual for its number of samples is scaled down to just that; it keeps its weight in the divisor. c
// is AllReduceOptions::norm_ratio_max, 2 unless residuals of error feedback may be several times as long as gradients.
// Honest contributions stay as they are, to the bit.
//
// The usual square. With gradients of independent samples, E||g||^2 = A + B / w: few samples are honestly longer. A and
// B cannot be told apart from a handful of members, so each member's square is carried over to another number of
// samples by what holds for all A, B >= 0:  A + B / w <= (A + B / u) max(1, u / w).  The usual square is the median of
// all members' squares, each carried over to w. Local steps are displacements, which grow at most in proportion to the
// samples; their factor is max(1, (w / u)^2). With error feedback the sum counts whatever its samples. Each account has
// one vote in a median. In a group of at most kFewMembers contributors the median says little: a member takes its own
// square, which it need not believe. The median of recent rounds' usual squares counts, too, and is known before
// anybody has begun; the larger one decides. Few samples may differ by more (norm_bound.cpp).
//
// Norms are said with the begin, one for each part, so everybody can add them up, and the owner of a part holds the
// sender to what it said of that part. A liar has to distribute its norm over the parts beforehand.
//
// Around a center. Where members bring one (RoundVectors::center, a mean gradient m that all of them hold), the square
// is ||v / w - m||^2, and the usual one is the radius, without c: a contribution that is further away is drawn to the
// radius, and one beyond kFarRatio radii to m itself, because it tells nothing. So fewer than half of the weight cannot
// keep the center away from the others. Nor is the radius more than c times that of the last round, or of the owner's
// own distance in its first: a round in which most contributors are liars does not move the mean far either. Owners
// that were in the same rounds have the same radius. In an honest group half of the contributions are drawn in a
// little.
//
// Source: norm clipping relative to the group, as in Karimireddy et al. 2021 (2012.10333), section 4, around zero or
// (CenteredClip, one iteration) around the center. Single-threaded.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "client/averaging/round_types.h"
#include "client/averaging/segment_table.h"

namespace starling::averaging {

constexpr std::size_t kFewMembers = 3;  // contributors that are too few for a median
constexpr double kFarRatio = 10;        // distances of more radii tell nothing

// Carries a usual square over to another number of samples, above 0.
double carried_over(const UsualNorm& usual, double samples, NormLaw law);

class NormBound {
 public:
  // A contribution to a segment that is reduced here, which waits until its factor is known.
  struct Waiting {
    Rank rank = 0;
    SegmentIndex segment = 0;
    std::vector<std::uint8_t> payload;
  };

  // `table` outlives this object.
  NormBound(const wire::GroupInfo& group, const SegmentTable& table, Rank self, const AllReduceOptions& options);

  // Contributors are held to norms.
  [[nodiscard]] bool bounds() const { return ratio_squared_max_ > 0; }
  // This member begins, before anybody else: with the norms of its vector's parts (own_parts.h), if it contributes and
  // is held to them, around this center, if there is one.
  void start(SampleCount weight, std::vector<float> norms, std::span<const float> center);
  // Norms that the member said with its begin; empty while it has not begun.
  [[nodiscard]] const std::vector<float>& norms(Rank rank) const { return members_[rank].norms; }
  // A member's begin arrived. Contributors say a norm for every part, or none where nothing is bounded.
  Status begin(Rank rank, SampleCount weight, std::vector<float> norms);
  // Everybody whom the sums wait for has begun: the usual square is what it is now.
  void settle();

  // This member's factor and that of `rank` are known, so contributions of `rank` can be added.
  [[nodiscard]] bool known(Rank rank) const { return members_[self_].factor && members_[rank].factor; }
  // The number by which the member's contributions are multiplied, 0 … 1. It must be known.
  [[nodiscard]] float factor(Rank rank) const { return *members_[rank].factor; }

  // Keeps a contribution back until its factor is known; a second one to the same segment is dropped.
  void wait(Waiting contribution);
  // Returns those that were kept back, in the order of their arrival.
  std::vector<Waiting> take_waiting();

  // The squared norm that a member may still send of the part that this segment was cut from.
  [[nodiscard]] double allowance(Rank rank, SegmentIndex segment) const;
  void count(Rank rank, SegmentIndex segment, double square);
  // Sums of orphans start over.
  void forget_adopted();

  // For later rounds; none before it is settled, or where nobody contributes.
  [[nodiscard]] std::optional<UsualNorm> usual() const;
  // Members that were scaled down; around a center, to less than half.
  [[nodiscard]] std::vector<ScaledMember> scaled() const;

 private:
  struct Member {
    bool begun = false;
    SampleCount weight = 0;
    double square = 0;  // the squared norm of its mean
    double stretch = 1;
    std::uint32_t voter = 0;  // wire::GroupMember::voter
    std::vector<float> norms;
    std::optional<float> factor;
  };
  void take(Rank rank, SampleCount weight, std::vector<float> norms);
  [[nodiscard]] bool centered() const { return !center_norms_.empty(); }
  // Sets the member's factor, if it can be told by now.
  void decide(Member& member) const;
  void decide_around_center(Member& member) const;
  [[nodiscard]] std::optional<double> usual_at(double samples) const;
  // The square of the radius; once it is settled.
  [[nodiscard]] std::optional<double> radius_at(double samples) const;
  // This member's own square; its weight is above 0.
  [[nodiscard]] double own_at(double samples) const;
  // A square in a median.
  struct Voice {
    UsualNorm norm;
    std::int64_t votes = 1;
  };
  // Each account's vote, divided among its members that contribute.
  [[nodiscard]] std::vector<Voice> voices() const;
  // voices: at least one
  [[nodiscard]] double median_of(const std::vector<Voice>& voices, double samples) const;

  const SegmentTable& table_;
  Rank self_;
  double ratio_squared_max_;
  NormLaw law_;
  std::vector<Voice> recent_;
  bool few_ = false;  // by the plan, at most kFewMembers contribute
  bool settled_ = false;
  std::vector<Member> members_;
  std::vector<Voice> contributors_;   // those that had begun when it settled
  std::vector<double> center_norms_;  // by the rank of the parts' owners; empty without a center
  std::vector<Waiting> waiting_;
  std::set<std::pair<Rank, SegmentIndex>> waits_;
  std::map<std::pair<Rank, std::uint32_t>, double> received_;  // squares, by sender and the part's planned owner
};

}  // namespace starling::averaging
