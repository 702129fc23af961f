#include "coordinator/api/electorate_rows.h"

#include <fmt/core.h>

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
  for (auto round = rounds.rbegin(); round != rounds.rend(); ++round) {
    recovered.states.push_back({round->round + 1, round->state_digest});
  }
  STARLING_ASSIGN(const auto groups, stores.electorates.list(run_id));
  for (const db::SeatedGroup& row : groups) {
    STARLING_ASSIGN(core::SeatedGroup group, group_of(row));
    recovered.groups.push_back(std::move(group));
  }
  if (rounds.empty()) return {};
  recovered.last_group = rounds.front().group_id;
  STARLING_ASSIGN(const auto credited, stores.contributions.of_round(run_id, rounds.front().round));
  for (const db::Contribution& line : credited) recovered.last_credited.push_back({line.peer_id, line.account_id});
  return {};
}

}  // namespace starling::api
