// The reports of members about finished rounds, kept until it is clear which result counts.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "coordinator/core/types.h"

namespace starling::core {

// The claim that members of one column of a grid make about it.
struct ColumnClaim {
  std::uint32_t column = 0;
  std::vector<wire::Contribution> contributions;  // sorted by peer, samples above zero
  std::set<PeerId> reporters;
};

// Reports that agree about a round: on the group, the digests and, for one group, the contributions; for a grid, on the
// samples accepted in each column. Only a column's own members report its contributions.
struct ResultClass {
  GroupId group;
  std::vector<std::vector<PeerId>> members;       // by column, sorted, as far as reporters have named them
  std::vector<wire::Contribution> contributions;  // for one group: sorted by peer, samples above zero
  std::vector<SampleCount> accepted;              // by column; empty for one group
  std::vector<ColumnClaim> claims;                // for a grid
  Digest base_digest;  // the state at which the group averaged; zero: an older program has kept the report
  Hash128 result_digest;
  Digest state_digest;
  std::set<PeerId> reporters;
  std::map<PeerId, PeerSignature> signatures;  // by reporter; checked by whoever brings reports here
  double loss_sum = 0;                         // sum over the reporters that had a loss
  int losses = 0;
  std::int64_t averaging_ms = 0;  // the longest
};

SampleCount samples_of(const std::vector<wire::Contribution>& contributions);

// A result of one group, and everybody who holds it. Holders may differ in the contributions they report.
struct HeldResult {
  std::vector<const ResultClass*> told;
  [[nodiscard]] bool is_held_by(const PeerId& peer) const;
};
std::vector<HeldResult> results_of(const std::vector<ResultClass>& classes, const GroupId& group);
// Returns the version of the contributions that most accounts among the holders report. In a tie it returns the smaller
// one, so that nobody gains by reporting more than the others saw.
const ResultClass& version_that_counts(const HeldResult& result, std::span<const Seat> seats);

// Bounds of a report that may count.
struct ReportLimits {
  SampleCount samples_max = 0;  // limit for one contribution
  std::size_t members_max = 0;
  std::size_t columns = 0;  // columns of the grid; 0: it must be one group
};
// Returns why `report` cannot count, or ok. `members` are the group's as planned, sorted.
Status check_report(const wire::RoundReport& report, const PeerId& reporter, std::span<const PeerId> members,
                    const ReportLimits& limits);
// Returns the peers in the order that check_report needs.
std::vector<PeerId> sorted(std::vector<PeerId> peers);

// The reports of all rounds that are not over.
class ReportBook {
 public:
  // bytes_max: limit for everything that add() keeps.
  explicit ReportBook(std::size_t bytes_max = kReportBytesMax) : bytes_max_(bytes_max) {}

  [[nodiscard]] bool has_spoken(const PeerId& reporter, RoundIndex round) const;
  // Returns the members that have reported the round, with the samples that each claims for itself.
  [[nodiscard]] const std::map<PeerId, SampleCount>& claims(RoundIndex round) const;
  // Adds a checked report of a member that has not reported the round yet. To make room for it, reports of the rounds
  // farthest ahead are forgotten, and may be sent again; resource_exhausted when that is not enough.
  Status add(TimePoint now, const PeerId& reporter, const wire::RoundReport& report);
  // Returns the class that an equal report was added to, if any: a report that has been checked once is not checked
  // again.
  [[nodiscard]] const ResultClass* find_equal(const wire::RoundReport& report) const;

  // Returns all classes of a round, oldest first; empty when there are none.
  [[nodiscard]] const std::vector<ResultClass>& classes(RoundIndex round) const;
  // Returns when the first report of the round came; kNever when none has.
  [[nodiscard]] TimePoint first_at(RoundIndex round) const;
  // Returns when the first report of this group's result came; kNever when none has.
  [[nodiscard]] TimePoint first_of(RoundIndex round, const GroupId& group) const;
  void forget_below(RoundIndex round);
  // Forgets the reports of the round that `keeps` does not accept: their senders have not spoken.
  void forget(RoundIndex round, const std::function<bool(const ResultClass&)>& keeps);

 private:
  struct Round {
    TimePoint first_at{};
    std::map<GroupId, TimePoint> first_of;
    std::vector<ResultClass> classes;
    std::map<PeerId, SampleCount> reporters;  // with the samples that each claims for itself
    std::size_t bytes = 0;
  };
  bool make_room(RoundIndex round, std::size_t bytes);

  std::size_t bytes_max_;
  std::size_t bytes_ = 0;  // bytes of all rounds
  std::map<RoundIndex, Round> rounds_;
};

}  // namespace starling::core
