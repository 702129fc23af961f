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

// What members of one column of a grid say of it. One group is a single column.
struct ColumnClaim {
  std::uint32_t column = 0;
  std::vector<PeerId> members;                    // as planned, sorted
  std::vector<wire::Contribution> contributions;  // sorted by peer, samples above zero
  std::size_t reporters = 0;
};

// Reports that say the same of a round: group, digests and, of one group, contributions; of a grid, what was accepted
// of each column. A column's contributions only its own members tell.
struct ResultClass {
  GroupId group;
  bool dealt = false;                             // a group of this coordinator's
  std::vector<PeerId> members;                    // as planned, or those heard of, sorted
  std::vector<wire::Contribution> contributions;  // sorted by peer, samples above zero
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

// Of what was said of one round, the class that counts when no class has a majority; null for none. The result is the
// one that most reporters hold, whoever they say brought how much to it; of two held by as many, a group's of this
// coordinator, then the one of more samples. What was brought to it is what most of its holders say; of two claims with
// as many, the smaller one: nobody gains by saying more than the others saw.
const ResultClass* strongest(const std::vector<ResultClass>& classes);

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

  struct Dealt {
    RoundIndex round = 0;
    std::vector<std::vector<PeerId>> groups;  // one, or the columns of a grid; each sorted
    SampleCount samples_max = 0;              // credited to one member: who claims more gets nothing
  };
  // A group that this coordinator has dealt; the last kRoundsAheadMax are remembered.
  void on_dealt(const GroupId& group, Dealt dealt);
  // Null for a group of somebody else's making.
  [[nodiscard]] const Dealt* dealt(const GroupId& group) const;

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
  // The lowest round from `from` on that something was said of.
  [[nodiscard]] std::optional<RoundIndex> next_reported(RoundIndex from) const;
  void forget_below(RoundIndex round);

 private:
  struct Round {
    TimePoint first_at{};
    std::vector<ResultClass> classes;
    std::map<PeerId, SampleCount> reporters;  // and what each claims for itself
    std::size_t bytes = 0;
  };
  bool make_room(RoundIndex round, std::size_t bytes);

  std::size_t bytes_max_;
  std::size_t bytes_ = 0;  // of all rounds
  std::map<RoundIndex, Round> rounds_;
  std::map<GroupId, Dealt> dealt_;
  std::vector<GroupId> dealt_order_;
};

}  // namespace starling::core
