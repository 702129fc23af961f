#include "db/stores/sql_stores.h"

namespace starling::db {
namespace {

Result<Lane> read_lane(const Statement& row) {
  Lane lane;
  STARLING_TRY(row.read_id(0, lane.peer_id));
  lane.lane = static_cast<int>(row.integer(1));
  lane.since = {row.integer(2)};
  return lane;
}

}  // namespace

Status SqlLaneStore::assign(const RunId& run_id, const std::vector<Lane>& lanes) {
  return access_.writes.run(
      [&](Connection& connection) -> Status {
        STARLING_ASSIGN(Statement take, connection.prepare("DELETE FROM lane WHERE run_id = ? AND lane = ?"));
        STARLING_ASSIGN(Statement give,
                        connection.prepare("INSERT INTO lane (run_id, peer_id, lane, since_ms) VALUES (?, ?, ?, ?) "
                                           "ON CONFLICT (run_id, peer_id) DO UPDATE SET lane = excluded.lane, "
                                           "since_ms = excluded.since_ms"));
        for (const Lane& lane : lanes) {
          STARLING_TRY(take.bind(run_id, lane.lane).run());
          STARLING_TRY(give.bind(run_id, lane.peer_id, lane.lane, lane.since.unix_ms).run());
        }
        return {};
      },
      WriteQueue::By::leader);
}

Result<std::vector<Lane>> SqlLaneStore::list(const RunId& run_id) const {
  return select(access_, "SELECT peer_id, lane, since_ms FROM lane WHERE run_id = ? ORDER BY lane", read_lane, run_id);
}

}  // namespace starling::db
