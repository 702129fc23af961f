#include "tests/sim/invariants.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "shared/run/fragments.h"
#include "shared/run/model_layout.h"
#include "tests/sim/quadratic_problem.h"

namespace starling::sim {
namespace {

// Equal parts that a member of a group this large may own: uplinks differ twentyfold, half are slower than their mean.
constexpr std::size_t kManyMembers = 12;
constexpr double kEqualPartsMax = 7;
// From this round on enough others have seen each line of a small swarm, but for a column now and then, in which others
// are on probation, or not relied on.
constexpr RoundIndex kLinesSeen = 20;
constexpr std::size_t kLedRounds = 8;

// The rest of an epoch may be lost many times, with a lease of a few rounds each time: in small grids, up to half of
// the members' samples do not count.
constexpr std::int64_t kStragglingRounds = 64;

std::map<PeerId, averaging::ContributionTerms> as_map(const std::vector<wire::Contribution>& contributions) {
  std::map<PeerId, averaging::ContributionTerms> map;
  for (const wire::Contribution& contribution : contributions) {
    map[contribution.peer] = {contribution.samples, contribution.draw};
  }
  return map;
}

}  // namespace

void Invariants::fail(std::string what) {
  if (broken_.empty()) broken_ = std::move(what);
}

void Invariants::on_report(const wire::RoundReport& report) {
  const std::vector<SampleCount> accepted = report.grid ? report.grid->accepted : std::vector<SampleCount>();
  const Finished mine{report.result_digest, report.state_digest, accepted, report.autonomous, {}};
  states_.insert(report.state_digest);
  Finished& theirs = finished_.emplace(report.group, mine).first->second;
  const std::uint32_t column = report.grid ? report.grid->column : 0;
  const std::map<PeerId, averaging::ContributionTerms> contributions = as_map(report.contributions);
  // A member that has the result of a grid, but was cut off from its column, does not know its column's contributions.
  const bool knows = !report.grid || !contributions.empty();
  const auto told = knows ? theirs.contributions.emplace(column, contributions).first : theirs.contributions.end();
  if (theirs.result != mine.result || theirs.accepted != mine.accepted || (knows && told->second != contributions)) {
    fail(fmt::format("round {}: two survivors of group {} hold different results", report.round, report.group.brief()));
  } else if (theirs.state != mine.state) {
    fail(fmt::format("round {}: two survivors of group {} stepped to different states", report.round,
                     report.group.brief()));
  }
  SampleCount sum = 0;
  for (const auto& [peer, terms] : contributions) sum += terms.weight;
  if (report.grid && (column >= accepted.size() || sum > accepted[column])) {
    fail(fmt::format("round {}: column {} claims {} samples, more than were accepted", report.round, column, sum));
  }
}

void Invariants::on_durable(const core::RoundDecided& round) {
  ++durable_;
  const auto found = finished_.find(round.group);
  if (found == finished_.end()) {
    fail(fmt::format("round {} was credited for group {} that nobody reported", round.round, round.group.brief()));
    return;
  }
  // Columns without a report of the result in time get no credit; in every other, each member gets its own.
  std::map<PeerId, SampleCount> left;
  for (const core::CreditedContribution& row : round.contributions) {
    left[row.peer] += row.samples;
    if (!credited_.insert({round.round, row.peer}).second) {
      fail(fmt::format("round {}: member {} was credited twice", round.round, row.peer.brief()));
    }
  }
  const Finished& accepted = found->second;
  only_leased_ = options_.epoch_samples >= options_.target_batch_size && !accepted.autonomous && dealt_in_row_ >= 2;
  dealt_in_row_ = accepted.autonomous ? 0 : dealt_in_row_ + 1;
  check_limits(round);
  for (const auto& [column, contributions] : accepted.contributions) {
    const auto credited = [&](const auto& row) {
      const auto line = left.find(row.first);
      return is_due(round, row.first, row.second, line == left.end() ? 0 : line->second);
    };
    const bool all = std::all_of(contributions.begin(), contributions.end(), credited);
    const bool none = std::none_of(contributions.begin(), contributions.end(),
                                   [&](const auto& row) { return left.contains(row.first); });
    if (!all && (accepted.accepted.empty() || !none)) {
      fail(fmt::format("round {}: the ledger differs from what its group accepted", round.round));
    }
    for (const auto& [peer, terms] : contributions) {
      if (left.erase(peer) > 0) check_counted(round, peer, terms);
    }
  }
  if (!left.empty() || round.state_digest != accepted.state) {
    fail(fmt::format("round {}: the ledger differs from what its group accepted", round.round));
  }
}

bool Invariants::is_due(const core::RoundDecided& round, const PeerId& peer,
                        const averaging::ContributionTerms& accepted, SampleCount credited) const {
  if (credited > accepted.weight) return false;
  if (liars_.contains(peer)) return true;               // check_limits says how much it may earn
  if (manifest_.model.experts.piece >= 0) return true;  // in a cell callers have to confirm it (cell_swarm.cpp)
  if (credited == 0) return only_leased_ && accepted.draw == 0;
  const Samples samples = averaged(round.group, peer, accepted);
  const auto useless = std::count_if(samples.begin(), samples.end(), [&](const auto& s) { return unusable(s); });
  return credited >= accepted.weight - useless;
}

void Invariants::check_limits(const core::RoundDecided& round) {
  std::map<PeerId, SampleCount> leased;
  for (const CountedSamples& range : round.counted) leased[range.peer] += range.count;
  for (const core::CreditedContribution& row : round.contributions) {
    const auto room = room_.find({round.group, row.peer});
    if (room != room_.end() && row.samples > room->second) {
      fail(fmt::format("round {}: {} was credited with {} samples, and its plan has room for {}", round.round,
                       row.peer.brief(), row.samples, room->second));
    }
    if (only_leased_ && row.samples > leased[row.peer]) {
      fail(fmt::format("round {}: {} was credited with {} samples, and {} of them were leased", round.round,
                       row.peer.brief(), row.samples, leased[row.peer]));
    }
  }
}

void Invariants::on_plan(const wire::GroupInfo& group) {
  const GroupId& id = group.grid ? group.grid->id : group.id;
  for (const wire::GroupMember& member : group.members) {
    if (member.weight_max > 0) room_[{id, member.endpoint.peer}] = member.weight_max;
  }
}

void Invariants::on_gradient(const PeerId& peer, const GroupId& group, const averaging::ContributionTerms& terms,
                             const std::vector<std::pair<std::int64_t, std::int64_t>>& samples) {
  if (terms.draw == 0) return;
  if (static_cast<SampleCount>(samples.size()) != terms.weight) fail("a gradient is of leased samples and of others");
  brought_[{group, peer}].push_back({terms.draw, samples});
}

Invariants::Samples Invariants::averaged(const GroupId& group, const PeerId& peer,
                                         const averaging::ContributionTerms& accepted) const {
  Samples samples;
  const auto found = brought_.find({group, peer});
  if (found == brought_.end()) return samples;
  for (const Brought& brought : found->second) {
    if (accepted.draw > 0 && brought.draw == accepted.draw) samples = brought.samples;
  }
  samples.resize(std::min(samples.size(), static_cast<std::size_t>(accepted.weight)));
  return samples;
}

bool Invariants::unusable(const std::pair<std::int64_t, std::int64_t>& sample) const {
  return is_unusable(options_.seed, options_.unusable_share, sample.second);
}

void Invariants::on_set_aside(const SampleSetAside& sample) {
  const std::pair place{sample.epoch, sample.place};
  set_aside_.insert(place);
  if (!unusable(place) || counted_.contains(place)) {
    fail(fmt::format("sample {} of epoch {} was set aside, and is fine", sample.place, sample.epoch));
  }
}

void Invariants::check_counted(const core::RoundDecided& round, const PeerId& peer,
                               const averaging::ContributionTerms& accepted) {
  Samples counted;
  for (const CountedSamples& range : round.counted) {
    for (SampleCount k = 0; range.peer == peer && k < range.count; ++k)
      counted.emplace_back(range.epoch, range.first + k);
  }
  for (const auto& sample : counted) {
    begun_.try_emplace(sample.first, durable_);
    if (!counted_.insert(sample).second || set_aside_.contains(sample)) {
      fail(fmt::format("round {}: sample {} of epoch {} was counted before", round.round, sample.second, sample.first));
    }
  }
  // Samples that cannot be used are counted, although they add nothing, where the coordinator did not hear of them, or
  // forgot when it died.
  if (liars_.contains(peer)) return;  // its leased samples count, computed or not
  Samples brought = averaged(round.group, peer, accepted);
  for (Samples* samples : {&counted, &brought}) std::erase_if(*samples, [&](const auto& s) { return unusable(s); });
  if (counted != brought) {
    fail(fmt::format("round {}: {} samples of {} are counted, {} were averaged in", round.round, counted.size(),
                     peer.brief(), brought.size()));
  }
}

std::int64_t Invariants::check_epochs(std::int64_t epoch_samples) {
  std::map<std::int64_t, std::int64_t> counted;
  for (const auto& [epoch, place] : counted_) ++counted[epoch];
  for (const auto& [epoch, place] : set_aside_) ++counted[epoch];
  std::int64_t complete = 0;
  for (const auto& [epoch, begun] : begun_) {
    if (counted[epoch] == epoch_samples) ++complete;
    const auto next = begun_.find(epoch + 1);
    if (counted[epoch] == epoch_samples || next == begun_.end() || next->second + kStragglingRounds > durable_)
      continue;
    fail(fmt::format("of epoch {}, {} samples are counted or set aside, {} rounds after the next began", epoch,
                     counted[epoch], durable_ - next->second));
  }
  return complete;
}

void Invariants::on_forgotten(const Store& store, const wire::RoundReport& report) {
  if (!store.rounds.contains(report.round)) {
    fail(fmt::format("round {} was acknowledged but is not in the ledger", report.round));
  }
}

void Invariants::on_adopted(const core::StateAdopted& adopted) {
  if (!states_.contains(adopted.state_digest)) {
    fail(fmt::format("round {}: a state that nobody has computed became the swarm's", adopted.round));
  }
}

void Invariants::on_evaluated(const core::EvaluationStored& figure) {
  if (figure.bits_per_byte != kHeldOutLoss) {
    fail(fmt::format("round {}: a held-out loss of {} was believed", figure.round, figure.bits_per_byte));
  }
}

void Invariants::on_planned(const wire::GroupInfo& group) {
  if (group.autonomous) return;  // it has the parts of an earlier plan
  const auto present = static_cast<double>(
      std::count_if(group.members.begin(), group.members.end(),
                    [](const wire::GroupMember& member) { return member.role != wire::MemberRole::late; }));
  for (const wire::GroupMember& member : group.members) {
    const double parts = static_cast<double>(member.part_floats) * present / static_cast<double>(group.vector_floats);
    if (group.members.size() >= kManyMembers && parts > kEqualPartsMax)
      fail(fmt::format("a member owns {:.1f} equal parts", parts));
  }
  if (!group.grid || group.round < kLinesSeen) return;
  for (std::size_t rank = 0; rank < group.members.size(); ++rank) {
    if (!boasters_.contains(group.members[rank].endpoint.peer)) continue;
    boasted_.insert(group.round);
    if (group.grid->spread[rank].head) led_.insert(group.round);
  }
  if (boasted_.size() >= kLedRounds && 2 * led_.size() > boasted_.size())
    fail(fmt::format("the slowest line led its column in {} of {} rounds", led_.size(), boasted_.size()));
}

void Invariants::on_withdrawn(const Store& store, const wire::RoundReport& report) {
  const auto decided = store.rounds.find(report.round);
  if (decided != store.rounds.end() && decided->second.group == report.group) {
    fail(fmt::format("round {}: the result of group {} is in the ledger, and was said to be void", report.round,
                     report.group.brief()));
  }
}

void Invariants::on_step(RoundIndex round, std::span<const float> before, std::span<const float> after) {
  const wire::Fragment fragment = wire::fragment_of(manifest_, round);
  const std::size_t parameters = wire::parameter_count(manifest_.model);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::size_t place = i % parameters;
    const bool steps = place >= fragment.begin && place < fragment.begin + fragment.count;
    if (!steps && before[i] != after[i]) {
      return fail(fmt::format("round {}: its step has changed coordinate {}, which it had not averaged", round, i));
    }
  }
}

void Invariants::on_mixed(const wire::GroupInfo& group, const averaging::AveragingOutcome& outcome) {
  if (outcome.weight_total > static_cast<SampleCount>(group.members.size())) {
    fail(fmt::format("mixing {}: {} members have brought {} times something", group.id.brief(), group.members.size(),
                     outcome.weight_total));
  }
  using Verdict = averaging::AveragingOutcome::Verdict;
  if (outcome.verdict == Verdict::diverged) fail(fmt::format("mixing {}: the means differ", group.id.brief()));
  if (outcome.verdict != Verdict::averaged) return;
  if (mixed_.emplace(group.id, outcome.result_digest).first->second != outcome.result_digest) {
    fail(fmt::format("mixing {}: two members hold different means", group.id.brief()));
  }
}

}  // namespace starling::sim
