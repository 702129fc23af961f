#include <fmt/core.h>

#include <utility>

#include "db/stores/rollback_rows.h"
#include "db/stores/sql_stores.h"

namespace starling::db {
namespace {

Result<KeptCheckpoint> read_checkpoint(const Statement& row) {
  KeptCheckpoint checkpoint;
  checkpoint.run_id = row.text(0);
  checkpoint.round = row.integer(1);
  STARLING_TRY(row.read_id(2, checkpoint.state_digest));
  STARLING_TRY(row.read_id(3, checkpoint.artefact));
  checkpoint.bytes = row.integer(4);
  STARLING_TRY(row.read_id(5, checkpoint.peer_id));
  checkpoint.at = {row.integer(6)};
  return checkpoint;
}

Status insert(Connection& connection, const KeptCheckpoint& checkpoint) {
  STARLING_ASSIGN(Statement artefact, connection.prepare("INSERT INTO artefact (digest, bytes, name) VALUES (?, ?, ?) "
                                                         "ON CONFLICT DO NOTHING"));
  const std::string name = fmt::format("state of '{}' at round {}", checkpoint.run_id, checkpoint.round);
  STARLING_TRY(artefact.bind(checkpoint.artefact, checkpoint.bytes, name).run());
  STARLING_ASSIGN(
      Statement row,
      connection.prepare("INSERT INTO checkpoint (run_id, round, state_digest, artefact, bytes, peer_id, at_ms) "
                         "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run_id, round) DO UPDATE SET "
                         "state_digest = excluded.state_digest, artefact = excluded.artefact, "
                         "bytes = excluded.bytes, peer_id = excluded.peer_id, at_ms = excluded.at_ms"));
  return row
      .bind(checkpoint.run_id, checkpoint.round, checkpoint.state_digest, checkpoint.artefact, checkpoint.bytes,
            checkpoint.peer_id, checkpoint.at.unix_ms)
      .run();
}

// Removes copies. Returns the artefacts that none of the remaining copies needs.
Result<std::vector<Digest>> remove_in(Connection& connection, const std::vector<KeptCheckpoint>& copies) {
  STARLING_ASSIGN(Statement remove, connection.prepare("DELETE FROM checkpoint WHERE run_id = ? AND round = ?"));
  STARLING_ASSIGN(Statement forget, connection.prepare("DELETE FROM artefact WHERE digest = ?1 AND NOT EXISTS "
                                                       "(SELECT 1 FROM checkpoint WHERE artefact = ?1)"));
  std::vector<Digest> gone;
  for (const KeptCheckpoint& copy : copies) {
    STARLING_TRY(remove.bind(copy.run_id, copy.round).run());
    STARLING_TRY(forget.bind(copy.artefact).run());
    if (connection.changes() > 0) gone.push_back(copy.artefact);
  }
  return gone;
}

}  // namespace

Status SqlCheckpointStore::keep(const KeptCheckpoint& checkpoint, std::int64_t rollbacks) {
  return access_.writes.run(
      [&](Connection& connection) -> Status {
        STARLING_TRY(expect_rollbacks(connection, checkpoint.run_id, rollbacks));
        return insert(connection, checkpoint);
      },
      WriteQueue::By::leader);
}

Result<std::vector<Digest>> SqlCheckpointStore::remove(const std::vector<KeptCheckpoint>& copies) {
  std::vector<Digest> gone;
  STARLING_TRY(access_.writes.run(
      [&](Connection& connection) -> Status {
        STARLING_ASSIGN(gone, remove_in(connection, copies));
        return {};
      },
      WriteQueue::By::leader));
  return gone;
}

Result<std::vector<KeptCheckpoint>> SqlCheckpointStore::list() const {
  return select(access_,
                "SELECT run_id, round, state_digest, artefact, bytes, peer_id, at_ms FROM checkpoint "
                "ORDER BY run_id, round DESC LIMIT ?",
                read_checkpoint, kCopiesMax);
}

Result<std::optional<KeptCheckpoint>> SqlCheckpointStore::newest(const RunId& run_id) const {
  STARLING_ASSIGN(auto rows, select(access_,
                                    "SELECT run_id, round, state_digest, artefact, bytes, peer_id, at_ms FROM "
                                    "checkpoint WHERE run_id = ? ORDER BY round DESC LIMIT 1",
                                    read_checkpoint, run_id));
  return rows.empty() ? std::optional<KeptCheckpoint>() : std::optional<KeptCheckpoint>(std::move(rows.front()));
}

}  // namespace starling::db
