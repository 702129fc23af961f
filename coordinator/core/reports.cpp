#include "coordinator/core/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "coordinator/core/claims.h"

namespace starling::core {
namespace {

bool by_peer(const wire::Contribution& a, const wire::Contribution& b) { return a.peer < b.peer; }

// Puts contributions in one order and drops zeros, so that equal ones compare equal.
std::vector<wire::Contribution> normalized(std::vector<wire::Contribution> contributions) {
  std::erase_if(contributions, [](const wire::Contribution& c) { return c.samples == 0; });
  std::sort(contributions.begin(), contributions.end(), by_peer);
  return contributions;
}

bool same_contributions(const std::vector<wire::Contribution>& a, const std::vector<wire::Contribution>& b) {
  const auto same = [](const wire::Contribution& x, const wire::Contribution& y) {
    return x.peer == y.peer && x.samples == y.samples && x.draw == y.draw;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

bool says_the_same(const ResultClass& a, const wire::RoundReport& b) {
  if (a.group != b.group || a.base_digest != b.base_digest) return false;
  if (a.result_digest != b.result_digest || a.state_digest != b.state_digest) return false;
  if (b.grid) return a.accepted == b.grid->accepted;
  return a.accepted.empty() && same_contributions(a.contributions, normalized(b.contributions));
}

// A reporter is remembered twice, in nodes of a tree, and its signature once.
constexpr std::size_t kReporterBytes =
    2 * (sizeof(PeerId) + sizeof(SampleCount) + 4 * sizeof(void*)) + sizeof(PeerSignature);

ResultClass class_of(const wire::RoundReport& report) {
  ResultClass made;
  made.group = report.group;
  if (report.grid) {
    made.accepted = report.grid->accepted;
  } else {
    made.contributions = normalized(report.contributions);
  }
  made.members.resize(std::max<std::size_t>(1, made.accepted.size()));
  made.base_digest = report.base_digest;
  made.result_digest = report.result_digest;
  made.state_digest = report.state_digest;
  return made;
}

// Takes in a grid member's claim about its column.
void add_claim(ResultClass& result, const PeerId& reporter, const wire::RoundReport& report) {
  const std::vector<wire::Contribution> contributions = normalized(report.contributions);
  if (contributions.empty()) return;  // it has the result, but not its column's contributions
  const auto found = std::find_if(result.claims.begin(), result.claims.end(), [&](const ColumnClaim& claim) {
    return claim.column == report.grid->column && same_contributions(claim.contributions, contributions);
  });
  if (found != result.claims.end()) {
    found->reporters.insert(reporter);
  } else {
    result.claims.push_back({report.grid->column, contributions, {reporter}});
  }
}

std::size_t bytes_of_claim(const wire::RoundReport& report) {
  const std::size_t members = report.members.size() * sizeof(PeerId);
  return report.grid ? sizeof(ColumnClaim) + members + report.contributions.size() * sizeof(wire::Contribution)
                     : members;
}

std::size_t bytes_of(const ResultClass& result) {
  return sizeof result + result.contributions.size() * sizeof(wire::Contribution) +
         result.accepted.size() * sizeof(SampleCount);
}

Error refused(RoundIndex round, std::string_view why) {
  return {ErrorCode::invalid_argument, fmt::format("the report of round {} does not count: {}", round, why)};
}

Status check_grid(const wire::RoundReport& report, const std::vector<wire::Contribution>& contributions,
                  std::size_t columns) {
  if (report.grid.has_value() != (columns > 0)) return refused(report.round, "it is of another kind of group");
  if (!report.grid) return {};
  const std::vector<SampleCount>& accepted = report.grid->accepted;
  if (accepted.size() != columns || report.grid->column >= columns) {
    return refused(report.round, "its grid has other columns");
  }
  if (samples_of(contributions) > accepted[report.grid->column]) {
    return refused(report.round, "its column claims more than was accepted");
  }
  const bool nothing = std::all_of(accepted.begin(), accepted.end(), [](SampleCount samples) { return samples == 0; });
  return nothing ? refused(report.round, "nobody contributed") : Status();
}

}  // namespace

SampleCount samples_of(const std::vector<wire::Contribution>& contributions) {
  return std::accumulate(contributions.begin(), contributions.end(), SampleCount{0},
                         [](SampleCount sum, const wire::Contribution& c) { return sum + c.samples; });
}

bool HeldResult::is_held_by(const PeerId& peer) const {
  return std::any_of(told.begin(), told.end(),
                     [&](const ResultClass* version) { return version->reporters.contains(peer); });
}

std::vector<HeldResult> results_of(const std::vector<ResultClass>& classes, const GroupId& group) {
  std::vector<HeldResult> results;
  for (const ResultClass& said : classes) {
    if (said.group != group) continue;
    const auto held = std::find_if(results.begin(), results.end(), [&](const HeldResult& other) {
      const ResultClass& first = *other.told.front();
      return first.base_digest == said.base_digest && first.result_digest == said.result_digest &&
             first.state_digest == said.state_digest;
    });
    if (held == results.end()) {
      results.push_back({{&said}});
    } else {
      held->told.push_back(&said);
    }
  }
  return results;
}

const ResultClass& version_that_counts(const HeldResult& result, std::span<const Seat> seats) {
  const ResultClass* best = nullptr;
  std::size_t most = 0;
  for (const ResultClass* version : result.told) {
    const std::size_t accounts =
        accounts_among(seats, [&](const PeerId& peer) { return version->reporters.contains(peer); });
    const bool smaller = best != nullptr && samples_of(version->contributions) < samples_of(best->contributions);
    if (best != nullptr && (accounts < most || (accounts == most && !smaller))) continue;
    best = version;
    most = accounts;
  }
  return *best;
}

std::vector<PeerId> sorted(std::vector<PeerId> peers) {
  std::sort(peers.begin(), peers.end());
  return peers;
}

Status check_report(const wire::RoundReport& report, const PeerId& reporter, std::span<const PeerId> members,
                    const ReportLimits& limits) {
  const auto is_member = [&](const PeerId& peer) { return std::binary_search(members.begin(), members.end(), peer); };
  if (members.size() > limits.members_max) {
    return refused(report.round, fmt::format("{} members, at most {}", members.size(), limits.members_max));
  }
  if (std::adjacent_find(members.begin(), members.end()) != members.end()) {
    return refused(report.round, "a member is named twice");
  }
  if (!is_member(reporter)) return refused(report.round, "its sender is not in the group");
  if (report.state_digest.is_zero()) return refused(report.round, "it names no state");
  const std::vector<wire::Contribution> contributions = normalized(report.contributions);
  if (contributions.empty() && !report.grid) return refused(report.round, "nobody contributed");
  for (std::size_t i = 0; i < contributions.size(); ++i) {
    const wire::Contribution& contribution = contributions[i];
    if (i > 0 && contributions[i - 1].peer == contribution.peer) {
      return refused(report.round, "a contributor is named twice");
    }
    if (!is_member(contribution.peer)) return refused(report.round, "a contributor is not in the group");
    if (contribution.samples < 0 || contribution.samples > limits.samples_max) {
      return refused(report.round, fmt::format("{} samples of one member, plausible are at most {}",
                                               contribution.samples, limits.samples_max));
    }
  }
  return check_grid(report, contributions, limits.columns);  // its sum cannot overflow now
}

bool ReportBook::has_spoken(const PeerId& reporter, RoundIndex round) const {
  const auto entry = rounds_.find(round);
  return entry != rounds_.end() && entry->second.reporters.contains(reporter);
}

const std::map<PeerId, SampleCount>& ReportBook::claims(RoundIndex round) const {
  static const std::map<PeerId, SampleCount> kNobody;
  const auto entry = rounds_.find(round);
  return entry == rounds_.end() ? kNobody : entry->second.reporters;
}

bool ReportBook::make_room(RoundIndex round, std::size_t bytes) {
  while (bytes_ + bytes > bytes_max_ && !rounds_.empty() && rounds_.rbegin()->first > round) {
    bytes_ -= rounds_.rbegin()->second.bytes;
    rounds_.erase(std::prev(rounds_.end()));
  }
  return bytes_ + bytes <= bytes_max_;
}

Status ReportBook::add(TimePoint now, const PeerId& reporter, const wire::RoundReport& report) {
  const ResultClass* equal = find_equal(report);
  std::optional<ResultClass> fresh;
  if (equal == nullptr) fresh = class_of(report);
  const std::size_t bytes = kReporterBytes + (fresh ? bytes_of(*fresh) : 0) + bytes_of_claim(report);
  if (!make_room(report.round, bytes)) {
    return Error{ErrorCode::resource_exhausted,
                 fmt::format("the report of round {} is not kept: too much that differs was reported", report.round)};
  }
  const auto [entry, is_first] = rounds_.try_emplace(report.round);
  Round& round = entry->second;
  if (is_first) round.first_at = now;
  round.bytes += bytes;
  bytes_ += bytes;
  round.reporters.emplace(reporter, claimed_by(reporter, report));
  auto found = std::find_if(round.classes.begin(), round.classes.end(),
                            [&](const ResultClass& result) { return &result == equal; });
  if (fresh) found = round.classes.insert(round.classes.end(), std::move(*fresh));
  round.first_of.try_emplace(report.group, now);
  found->reporters.insert(reporter);
  if (report.signature) found->signatures.emplace(reporter, *report.signature);
  std::vector<PeerId>& named = found->members[report.grid ? report.grid->column : 0];
  if (named.empty()) named = sorted(report.members);
  if (report.grid) add_claim(*found, reporter, report);
  found->averaging_ms = std::max(found->averaging_ms, report.averaging_ms);
  if (report.loss > 0) {
    found->loss_sum += report.loss;
    ++found->losses;
  }
  return {};
}

const ResultClass* ReportBook::find_equal(const wire::RoundReport& report) const {
  for (const ResultClass& result : classes(report.round)) {
    if (says_the_same(result, report)) return &result;
  }
  return nullptr;
}

const std::vector<ResultClass>& ReportBook::classes(RoundIndex round) const {
  static const std::vector<ResultClass> kNothing;
  const auto entry = rounds_.find(round);
  return entry == rounds_.end() ? kNothing : entry->second.classes;
}

TimePoint ReportBook::first_at(RoundIndex round) const {
  const auto entry = rounds_.find(round);
  return entry == rounds_.end() ? kNever : entry->second.first_at;
}

TimePoint ReportBook::first_of(RoundIndex round, const GroupId& group) const {
  const auto entry = rounds_.find(round);
  if (entry == rounds_.end()) return kNever;
  const auto first = entry->second.first_of.find(group);
  return first == entry->second.first_of.end() ? kNever : first->second;
}

void ReportBook::forget(RoundIndex number, const std::function<bool(const ResultClass&)>& keeps) {
  const auto entry = rounds_.find(number);
  if (entry == rounds_.end()) return;
  Round& round = entry->second;
  for (const ResultClass& result : round.classes) {
    if (keeps(result)) continue;
    for (const PeerId& reporter : result.reporters) round.reporters.erase(reporter);
  }
  std::erase_if(round.classes, [&](const ResultClass& result) { return !keeps(result); });
  std::erase_if(round.first_of, [&](const auto& first) {
    return std::none_of(round.classes.begin(), round.classes.end(),
                        [&](const ResultClass& result) { return result.group == first.first; });
  });
  // Results that are left keep the room that they were given together with those that go, until the round is over.
  if (!round.classes.empty()) return;
  bytes_ -= round.bytes;
  rounds_.erase(entry);
}

void ReportBook::forget_below(RoundIndex round) {
  while (!rounds_.empty() && rounds_.begin()->first < round) {
    bytes_ -= rounds_.begin()->second.bytes;
    rounds_.erase(rounds_.begin());
  }
}

}  // namespace starling::core
