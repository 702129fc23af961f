#include "coordinator/api/electorate_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "coordinator/core/known_states.h"

namespace starling::api {
namespace {

Result<core::SeatedGroup> group_of(const db::SeatedGroup& row) {
  core::SeatedGroup group;
  group.origin = row.dealt ? core::SeatedGroup::Origin::dealt : core::SeatedGroup::Origin::successor;
  group.id = row.group_id;
  group.round = row.round;
  group.samples_max = row.samples_max;
  for (const db::Seat& seat : row.seats) {
    const auto column = static_cast<std::size_t>(seat.column);
    if (seat.role > static_cast<int>(wire::MemberRole::late) || column >= wire::kGridColumnsMax) {
      return Error{ErrorCode::corrupt, fmt::format("table seat: role {} in column {}", seat.role, seat.column)};
    }
    if (group.columns.size() <= column) group.columns.resize(column + 1);
    group.columns[column].push_back(
        {seat.peer_id, seat.account_id, static_cast<wire::MemberRole>(seat.role), seat.voice});
  }
  return group;
}

// Returns rounds, newest first, within the number that is remembered.
Result<std::vector<db::RoundRecord>> newest_rounds(const db::RunStore& runs, const RunId& run_id) {
  std::vector<db::RoundRecord> rounds;
  while (rounds.size() < core::KnownStates::kStatesMax) {
    const db::Page page{.limit = db::kPageRowsMax, .offset = static_cast<std::int64_t>(rounds.size())};
    STARLING_ASSIGN(auto more, runs.rounds(run_id, page));
    if (more.empty()) break;
    std::move(more.begin(), more.end(), std::back_inserter(rounds));
  }
  return rounds;
}

// The states that rounds began with, oldest first, without those that were given up: nobody's word may bring one back.
std::vector<core::KnownState> states_that_count(const std::vector<db::RoundRecord>& rounds,
                                                const std::vector<db::Rollback>& rollbacks) {
  std::vector<core::KnownState> states;
  for (const db::RoundRecord& record : rounds) {
    const bool given_up = std::any_of(rollbacks.begin(), rollbacks.end(),
                                      [&](const db::Rollback& one) { return one.gives_up(record.round); });
    if (!given_up) states.push_back({record.round + 1, record.state_digest});
  }
  for (std::size_t i = 0; i < rollbacks.size(); ++i) {
    const bool given_up = std::any_of(rollbacks.begin() + static_cast<std::ptrdiff_t>(i) + 1, rollbacks.end(),
                                      [&](const db::Rollback& later) { return later.gives_up(rollbacks[i].round); });
    if (!given_up) states.push_back({rollbacks[i].round + 1, rollbacks[i].state_digest});
  }
  std::sort(states.begin(), states.end(), [](const auto& a, const auto& b) { return a.round < b.round; });
  return states;
}

}  // namespace

db::SeatedGroup row_of(const core::SeatedGroup& group) {
  const bool dealt = group.origin == core::SeatedGroup::Origin::dealt;
  db::SeatedGroup row{group.id, group.round, dealt, group.samples_max};
  for (std::size_t column = 0; column < group.columns.size(); ++column) {
    for (const core::Seat& seat : group.columns[column]) {
      row.seats.push_back({static_cast<int>(column), seat.peer, seat.account, static_cast<int>(seat.role), seat.voice});
    }
  }
  return row;
}

Status recover_electorate(const db::TrainingStores& stores, const RunId& run_id, core::RecoveredRun& recovered) {
  STARLING_ASSIGN(const auto rounds, newest_rounds(stores.runs, run_id));
  STARLING_ASSIGN(const auto rollbacks, stores.runs.rollbacks(run_id));
  recovered.states = states_that_count(rounds, rollbacks);
  STARLING_ASSIGN(const auto groups, stores.electorates.list(run_id));
  for (const db::SeatedGroup& row : groups) {
    STARLING_ASSIGN(core::SeatedGroup group, group_of(row));
    recovered.groups.push_back(std::move(group));
  }
  const bool rolled_back = !rollbacks.empty() && rollbacks.back().round + 1 == recovered.round;
  if (rounds.empty() || rolled_back) return {};  // no group has decided the round before
  recovered.last_group = rounds.front().group_id;
  STARLING_ASSIGN(const auto credited, stores.contributions.of_round(run_id, rounds.front().round));
  for (const db::Contribution& line : credited) recovered.last_credited.push_back({line.peer_id, line.account_id});
  return {};
}

}  // namespace starling::api
