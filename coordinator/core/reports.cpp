#include "coordinator/core/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace starling::core {
namespace {

bool by_peer(const wire::Contribution& a, const wire::Contribution& b) { return a.peer < b.peer; }

// In one order and without zeros, so that equal contributions compare equal.
std::vector<wire::Contribution> normalized(std::vector<wire::Contribution> contributions) {
  std::erase_if(contributions, [](const wire::Contribution& c) { return c.samples == 0; });
  std::sort(contributions.begin(), contributions.end(), by_peer);
  return contributions;
}

bool same_contributions(const std::vector<wire::Contribution>& a, const std::vector<wire::Contribution>& b) {
  const auto same = [](const wire::Contribution& x, const wire::Contribution& y) {
    return x.peer == y.peer && x.samples == y.samples;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

bool says_the_same(const ResultClass& a, const wire::RoundReport& b) {
  return a.group == b.group && a.result_digest == b.result_digest && a.state_digest == b.state_digest &&
         same_contributions(a.contributions, normalized(b.contributions));
}

// A reporter is remembered twice, in nodes of a tree.
constexpr std::size_t kReporterBytes = 2 * (sizeof(PeerId) + 4 * sizeof(void*));

ResultClass class_of(const wire::RoundReport& report, const ReportBook::Dealt* planned) {
  ResultClass made;
  made.group = report.group;
  made.dealt = planned != nullptr;
  made.members = planned != nullptr ? planned->members : sorted(report.members);
  made.contributions = normalized(report.contributions);
  made.result_digest = report.result_digest;
  made.state_digest = report.state_digest;
  return made;
}

std::size_t bytes_of(const ResultClass& result) {
  return sizeof result + result.members.size() * sizeof(PeerId) +
         result.contributions.size() * sizeof(wire::Contribution);
}

Error refused(RoundIndex round, std::string_view why) {
  return {ErrorCode::invalid_argument, fmt::format("the report of round {} does not count: {}", round, why)};
}

}  // namespace

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
  if (contributions.empty()) return refused(report.round, "nobody contributed");
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
  return {};
}

void ReportBook::on_dealt(const GroupId& group, Dealt dealt) {
  dealt.members = sorted(std::move(dealt.members));
  dealt_[group] = std::move(dealt);
  dealt_order_.push_back(group);
  if (dealt_order_.size() > kRoundsAheadMax) {
    dealt_.erase(dealt_order_.front());
    dealt_order_.erase(dealt_order_.begin());
  }
}

const ReportBook::Dealt* ReportBook::dealt(const GroupId& group) const {
  const auto entry = dealt_.find(group);
  return entry == dealt_.end() ? nullptr : &entry->second;
}

bool ReportBook::has_spoken(const PeerId& reporter, RoundIndex round) const {
  const auto entry = rounds_.find(round);
  return entry != rounds_.end() && entry->second.reporters.contains(reporter);
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
  if (equal == nullptr) fresh = class_of(report, dealt(report.group));
  const std::size_t bytes = kReporterBytes + (fresh ? bytes_of(*fresh) : 0);
  if (!make_room(report.round, bytes)) {
    return Error{ErrorCode::resource_exhausted,
                 fmt::format("the report of round {} is not kept: too much that differs was reported", report.round)};
  }
  const auto [entry, is_first] = rounds_.try_emplace(report.round);
  Round& round = entry->second;
  if (is_first) round.first_at = now;
  round.bytes += bytes;
  bytes_ += bytes;
  round.reporters.insert(reporter);
  auto found = std::find_if(round.classes.begin(), round.classes.end(),
                            [&](const ResultClass& result) { return &result == equal; });
  if (fresh) found = round.classes.insert(round.classes.end(), std::move(*fresh));
  found->reporters.insert(reporter);
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

std::optional<RoundIndex> ReportBook::next_reported(RoundIndex from) const {
  const auto entry = rounds_.lower_bound(from);
  return entry == rounds_.end() ? std::nullopt : std::optional(entry->first);
}

void ReportBook::forget_below(RoundIndex round) {
  while (!rounds_.empty() && rounds_.begin()->first < round) {
    bytes_ -= rounds_.begin()->second.bytes;
    rounds_.erase(rounds_.begin());
  }
}

}  // namespace starling::core
