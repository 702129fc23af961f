#include "tests/sim/invariants.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace starling::sim {
namespace {

std::map<PeerId, SampleCount> as_map(const std::vector<wire::Contribution>& contributions) {
  std::map<PeerId, SampleCount> map;
  for (const wire::Contribution& contribution : contributions) map[contribution.peer] = contribution.samples;
  return map;
}

}  // namespace

void Invariants::fail(std::string what) {
  if (broken_.empty()) broken_ = std::move(what);
}

void Invariants::on_report(const wire::RoundReport& report) {
  const std::vector<SampleCount> accepted = report.grid ? report.grid->accepted : std::vector<SampleCount>();
  const Finished mine{report.result_digest, report.state_digest, accepted, {}};
  Finished& theirs = finished_.emplace(report.group, mine).first->second;
  const std::uint32_t column = report.grid ? report.grid->column : 0;
  const std::map<PeerId, SampleCount> contributions = as_map(report.contributions);
  // Who has the result of a grid, but was cut off from its column, does not know what that has brought.
  const bool knows = !report.grid || !contributions.empty();
  const auto told = knows ? theirs.contributions.emplace(column, contributions).first : theirs.contributions.end();
  if (theirs.result != mine.result || theirs.accepted != mine.accepted || (knows && told->second != contributions)) {
    fail(fmt::format("round {}: two survivors of group {} hold different results", report.round, report.group.brief()));
  } else if (theirs.state != mine.state) {
    fail(fmt::format("round {}: two survivors of group {} stepped to different states", report.round,
                     report.group.brief()));
  }
  SampleCount sum = 0;
  for (const auto& [peer, samples] : contributions) sum += samples;
  if (report.grid && (column >= accepted.size() || sum > accepted[column])) {
    fail(fmt::format("round {}: column {} claims {} samples, more than were accepted", report.round, column, sum));
  }
}

void Invariants::on_durable(const core::RoundDecided& round) {
  const auto found = finished_.find(round.group);
  if (found == finished_.end()) {
    fail(fmt::format("round {} was credited for group {} that nobody reported", round.round, round.group.brief()));
    return;
  }
  // Columns of which nobody has told the result in time get no credit; of every other, each member gets what is its.
  std::map<PeerId, SampleCount> left;
  for (const core::CreditedContribution& row : round.contributions) {
    left[row.peer] += row.samples;
    if (!credited_.insert({round.round, row.peer}).second) {
      fail(fmt::format("round {}: member {} was credited twice", round.round, row.peer.brief()));
    }
  }
  const Finished& accepted = found->second;
  for (const auto& [column, contributions] : accepted.contributions) {
    const auto credited = [&](const auto& row) { return left.contains(row.first) && left[row.first] == row.second; };
    const bool all = std::all_of(contributions.begin(), contributions.end(), credited);
    const bool none = std::none_of(contributions.begin(), contributions.end(), credited);
    if (!all && (accepted.accepted.empty() || !none)) {
      fail(fmt::format("round {}: the ledger differs from what its group accepted", round.round));
    }
    for (const auto& [peer, samples] : contributions) left.erase(peer);
  }
  if (!left.empty() || round.state_digest != accepted.state) {
    fail(fmt::format("round {}: the ledger differs from what its group accepted", round.round));
  }
}

void Invariants::on_forgotten(const Store& store, const wire::RoundReport& report) {
  if (!store.rounds.contains(report.round)) {
    fail(fmt::format("round {} was acknowledged but is not in the ledger", report.round));
  }
}

}  // namespace starling::sim
