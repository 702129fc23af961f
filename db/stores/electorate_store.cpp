#include <map>
#include <utility>

#include "db/stores/electorate_rows.h"
#include "db/stores/rollback_rows.h"
#include "db/stores/sql_stores.h"

namespace starling::db {
namespace {

Result<SeatedGroup> read_group(const Statement& row) {
  SeatedGroup group;
  STARLING_TRY(row.read_id(0, group.group_id));
  group.round = row.integer(1);
  group.dealt = row.integer(2) != 0;
  group.samples_max = row.integer(3);
  return group;
}

using SeatOfGroup = std::pair<GroupId, Seat>;

Result<SeatOfGroup> read_seat(const Statement& row) {
  SeatOfGroup seat;
  STARLING_TRY(row.read_id(0, seat.first));
  seat.second.column = static_cast<int>(row.integer(1));
  STARLING_TRY(row.read_id(2, seat.second.peer_id));
  seat.second.account_id = row.integer(3);
  seat.second.role = static_cast<int>(row.integer(4));
  seat.second.voice = row.integer(5) != 0;
  return seat;
}

}  // namespace

Status insert_seated_group(Connection& connection, const RunId& run_id, const SeatedGroup& group) {
  STARLING_ASSIGN(Statement insert,
                  connection.prepare("INSERT INTO seated_group (run_id, group_id, round, dealt, samples_max) "
                                     "VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"));
  STARLING_TRY(insert.bind(run_id, group.group_id, group.round, group.dealt ? 1 : 0, group.samples_max).run());
  if (connection.changes() == 0) return {};
  STARLING_ASSIGN(Statement seat,
                  connection.prepare("INSERT INTO seat (run_id, group_id, group_column, seat_rank, peer_id, "
                                     "account_id, role, voice) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"));
  std::map<int, std::int64_t> ranks;  // by column
  for (const Seat& one : group.seats) {
    STARLING_TRY(seat.bind(run_id, group.group_id, one.column, ranks[one.column]++, one.peer_id, one.account_id,
                           one.role, one.voice)
                     .run());
  }
  return {};
}

Status delete_seated_groups(Connection& connection, const RunId& run_id, RoundIndex below) {
  STARLING_ASSIGN(Statement seats,
                  connection.prepare("DELETE FROM seat WHERE run_id = ?1 AND group_id IN (SELECT group_id FROM "
                                     "seated_group WHERE run_id = ?1 AND round < ?2)"));
  STARLING_TRY(seats.bind(run_id, below).run());
  STARLING_ASSIGN(Statement groups, connection.prepare("DELETE FROM seated_group WHERE run_id = ? AND round < ?"));
  return groups.bind(run_id, below).run();
}

Status SqlElectorateStore::add(const RunId& run_id, const SeatedGroup& group, std::int64_t rollbacks) {
  return access_.writes.run(
      [&](Connection& connection) -> Status {
        STARLING_TRY(expect_rollbacks(connection, run_id, rollbacks));
        return insert_seated_group(connection, run_id, group);
      },
      WriteQueue::By::leader);
}

Result<std::vector<SeatedGroup>> SqlElectorateStore::list(const RunId& run_id) const {
  STARLING_ASSIGN(std::vector<SeatedGroup> groups,
                  select(access_,
                         "SELECT group_id, round, dealt, samples_max FROM seated_group WHERE run_id = ? "
                         "ORDER BY round, group_id",
                         read_group, run_id));
  STARLING_ASSIGN(const std::vector<SeatOfGroup> seats,
                  select(access_,
                         "SELECT group_id, group_column, peer_id, account_id, role, voice FROM seat WHERE run_id = ? "
                         "ORDER BY group_id, group_column, seat_rank",
                         read_seat, run_id));
  for (SeatedGroup& group : groups) {
    for (const auto& [group_id, seat] : seats) {
      if (group_id == group.group_id) group.seats.push_back(seat);
    }
  }
  return groups;
}

}  // namespace starling::db
