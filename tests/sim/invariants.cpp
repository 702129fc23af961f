#include "tests/sim/invariants.h"

#include <fmt/core.h>

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
  const Finished mine{report.result_digest, report.state_digest, as_map(report.contributions)};
  const auto [found, first] = finished_.emplace(report.group, mine);
  if (first) return;
  const Finished& theirs = found->second;
  if (theirs.result != mine.result || theirs.contributions != mine.contributions) {
    fail(fmt::format("round {}: two survivors of group {} hold different results", report.round, report.group.brief()));
  } else if (theirs.state != mine.state) {
    fail(fmt::format("round {}: two survivors of group {} stepped to different states", report.round,
                     report.group.brief()));
  }
}

void Invariants::on_durable(const core::RoundDecided& round) {
  const auto found = finished_.find(round.group);
  if (found == finished_.end()) {
    fail(fmt::format("round {} was credited for group {} that nobody reported", round.round, round.group.brief()));
    return;
  }
  std::map<PeerId, SampleCount> credited;
  for (const core::CreditedContribution& row : round.contributions) {
    credited[row.peer] += row.samples;
    if (!credited_.insert({round.round, row.peer}).second) {
      fail(fmt::format("round {}: member {} was credited twice", round.round, row.peer.brief()));
    }
  }
  if (credited != found->second.contributions || round.state_digest != found->second.state) {
    fail(fmt::format("round {}: the ledger differs from what its group accepted", round.round));
  }
}

void Invariants::on_forgotten(const Store& store, const wire::RoundReport& report) {
  if (!store.rounds.contains(report.round)) {
    fail(fmt::format("round {} was acknowledged but is not in the ledger", report.round));
  }
}

}  // namespace starling::sim
