// What members say about finished rounds, kept until it is clear which result counts.
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

// What members of one column of a grid say of it.
struct ColumnClaim {
  std::uint32_t column = 0;
  std::vector<wire::Contribution> contributions;  // sorted by peer, samples above zero
  std::set<PeerId> reporters;
};

// Reports that say the same of a round: group, digests and, of one group, contributions; of a grid, what was accepted
// of each column. A column's contributions only its own members tell.
struct ResultClass {
  GroupId group;
  std::vector<std::vector<PeerId>> members;       // by column, sorted, as far as reporters have named them
  std::vector<wire::Contribution> contributions;  // of one group: sorted by peer, samples above zero
  std::vector<SampleCount> accepted;              // by column; empty for one group
  std::vector<ColumnClaim> claims;                // of a grid
  Hash128 result_digest;
  Digest state_digest;
  std::set<PeerId> reporters;
  double loss_sum = 0;  // of the reporters that had a loss
  int losses = 0;
  std::int64_t averaging_ms = 0;  // the longest
};

SampleCount samples_of(const std::vector<wire::Contribution>& contributions);

// A result of one group, and everybody who holds it: they may differ in who they say brought how much to it.
struct HeldResult {
  std::vector<const ResultClass*> told;
  [[nodiscard]] bool is_held_by(const PeerId& peer) const;
};
std::vector<HeldResult> results_of(const std::vector<ResultClass>& classes, const GroupId& group);
// Of what holders of the result say was brought to it, the version of most accounts; of two with as many, the smaller
// one: nobody gains by saying more than the others saw.
const ResultClass& version_that_counts(const HeldResult& result, std::span<const Seat> seats);

struct ReportLimits {
  SampleCount samples_max = 0;  // of one contribution
  std::size_t members_max = 0;
  std::size_t columns = 0;  // of the grid; 0: it must be one group
};
// Why `report` can not count, or ok. `members` are the group's as planned, sorted.
Status check_report(const wire::RoundReport& report, const PeerId& reporter, std::span<const PeerId> members,
                    const ReportLimits& limits);
// In one order, as check_report wants them.
std::vector<PeerId> sorted(std::vector<PeerId> peers);

class ReportBook {
 public:
  // bytes_max: of all that add() keeps.
  explicit ReportBook(std::size_t bytes_max = kReportBytesMax) : bytes_max_(bytes_max) {}

  [[nodiscard]] bool has_spoken(const PeerId& reporter, RoundIndex round) const;
  // Who has spoken on the round, and how many samples each says it brought itself.
  [[nodiscard]] const std::map<PeerId, SampleCount>& claims(RoundIndex round) const;
  // Adds a checked report of one who has not spoken on the round yet. To make room for it, what was said of the rounds
  // farthest ahead is forgotten, and may be told again; resource_exhausted when that is not enough.
  Status add(TimePoint now, const PeerId& reporter, const wire::RoundReport& report);
  // The class an equal report was added to, if any: what has been checked once is not checked again.
  [[nodiscard]] const ResultClass* find_equal(const wire::RoundReport& report) const;

  // All that was said of a round, oldest first; empty when nothing was.
  [[nodiscard]] const std::vector<ResultClass>& classes(RoundIndex round) const;
  // When the first report of the round came; kNever when none has.
  [[nodiscard]] TimePoint first_at(RoundIndex round) const;
  // When the first report of this group's result came; kNever when none has.
  [[nodiscard]] TimePoint first_of(RoundIndex round, const GroupId& group) const;
  void forget_below(RoundIndex round);
  // Forgets what was said of the round by members that `keeps` does not accept: they have not spoken.
  void forget(RoundIndex round, const std::function<bool(const ResultClass&)>& keeps);

 private:
  struct Round {
    TimePoint first_at{};
    std::map<GroupId, TimePoint> first_of;
    std::vector<ResultClass> classes;
    std::map<PeerId, SampleCount> reporters;  // and what each claims for itself
    std::size_t bytes = 0;
  };
  bool make_room(RoundIndex round, std::size_t bytes);

  std::size_t bytes_max_;
  std::size_t bytes_ = 0;  // of all rounds
  std::map<RoundIndex, Round> rounds_;
};

}  // namespace starling::core
