#include <fmt/core.h>

#include "db/stores/finality.h"
#include "db/stores/rollback_rows.h"
#include "db/stores/sql_stores.h"

namespace starling::db {
namespace {

std::string_view name_of(RunState state) {
  switch (state) {
    case RunState::paused:
      return "paused";
    case RunState::running:
      return "running";
    case RunState::complete:
      return "complete";
  }
  return "";
}

Result<RunState> state_named(const std::string& name) {
  for (const RunState state : {RunState::paused, RunState::running, RunState::complete}) {
    if (name == name_of(state)) return state;
  }
  return Error{ErrorCode::corrupt, fmt::format("table run: unknown state '{}'", name)};
}

Result<Run> read_run(const Statement& row) {
  Run run;
  run.run_id = row.text(0);
  run.manifest_envelope = row.text(1);
  STARLING_ASSIGN(run.state, state_named(row.text(2)));
  run.created = {row.integer(3)};
  run.round = row.integer(4);
  run.retired = {row.integer(5)};
  run.rollbacks = row.integer(6);
  if (!row.is_null(7)) run.final_below = row.integer(7);
  return run;
}

Result<RoundRecord> read_round(const Statement& row) {
  RoundRecord record;
  record.run_id = row.text(0);
  record.round = row.integer(1);
  STARLING_TRY(row.read_id(2, record.group_id));
  record.decided_at = {row.integer(3)};
  record.samples = row.integer(4);
  STARLING_TRY(row.read_id(5, record.state_digest));
  record.survivors = static_cast<int>(row.integer(6));
  record.duration_ms = row.integer(7);
  record.loss = row.real(8);
  return record;
}

Result<Rollback> read_rollback(const Statement& row) {
  Rollback rollback{row.text(0), row.integer(1), row.integer(2), {}, {row.integer(4)}};
  STARLING_TRY(row.read_id(3, rollback.state_digest));
  return rollback;
}

std::string no_run(const RunId& run_id) { return fmt::format("there is no run '{}'", run_id); }

constexpr std::string_view kRunColumns =
    "SELECT run_id, manifest_envelope, state, created_ms, round, retired_ms, (SELECT count(*) FROM rollback WHERE "
    "rollback.run_id = run.run_id), final_below FROM run ";

// Changes a run that may be over by that: then its credit is final. Triggers keep the pending sums.
template <typename... Values>
Status change_run(const Access& access, std::string_view sql, const RunId& run_id, const Values&... values) {
  return access.writes.run([&](Connection& connection) -> Status {
    STARLING_ASSIGN(Statement change, connection.prepare(sql));
    STARLING_TRY(change.bind(values..., run_id).run());
    if (connection.changes() == 0) return Error{ErrorCode::not_found, no_run(run_id)};
    return make_final_if_over(connection, run_id);
  });
}

}  // namespace

// A cell has no manifest and no state of its own.
Status SqlRunStore::create(const Run& run, const std::vector<RunId>& cells) {
  Status created = access_.writes.run([&](Connection& connection) -> Status {
    STARLING_ASSIGN(Statement insert,
                    connection.prepare("INSERT INTO run (run_id, manifest_envelope, state, created_ms, round) "
                                       "VALUES (?, ?, ?, ?, ?)"));
    STARLING_TRY(
        insert.bind(run.run_id, run.manifest_envelope, name_of(run.state), run.created.unix_ms, run.round).run());
    STARLING_ASSIGN(Statement cell,
                    connection.prepare("INSERT INTO run (run_id, manifest_envelope, state, created_ms, part_of) "
                                       "VALUES (?, '', ?, ?, (SELECT number FROM run WHERE run_id = ?))"));
    for (const RunId& id : cells) {
      STARLING_TRY(cell.bind(id, name_of(RunState::running), run.created.unix_ms, run.run_id).run());
    }
    return {};
  });
  if (!created && created.error().code == ErrorCode::already_exists) {
    return Error{ErrorCode::already_exists,
                 fmt::format("there is a run '{}' already; choose another run id", run.run_id)};
  }
  return created;
}

Result<Run> SqlRunStore::find(const RunId& run_id) const {
  static const std::string sql = std::string(kRunColumns) + "WHERE run_id = ?";
  return only(select(access_, sql, read_run, run_id), no_run(run_id));
}

Result<std::vector<Run>> SqlRunStore::list() const {
  static const std::string sql = std::string(kRunColumns) + "WHERE part_of IS NULL ORDER BY created_ms, run_id LIMIT ?";
  return select(access_, sql, read_run, kPageRowsMax);
}

Status SqlRunStore::set_state(const RunId& run_id, RunState state) {
  return change_run(access_, "UPDATE run SET state = ? WHERE run_id = ?", run_id, name_of(state));
}

Status SqlRunStore::retire(const RunId& run_id, WallTime now) {
  return change_run(access_, "UPDATE run SET retired_ms = ? WHERE run_id = ?", run_id, now.unix_ms);
}

Status SqlRunStore::set_envelope(const RunId& run_id, const std::string& envelope) {
  return update_one(access_, "UPDATE run SET manifest_envelope = ? WHERE run_id = ?", no_run(run_id), envelope, run_id);
}

Result<std::vector<RoundRecord>> SqlRunStore::rounds(const RunId& run_id, const Page& page) const {
  return select(access_,
                "SELECT run_id, round, group_id, decided_at_ms, samples, state_digest, survivors, duration_ms, loss "
                "FROM round WHERE run_id = ? ORDER BY round DESC, group_id LIMIT ? OFFSET ?",
                read_round, run_id, limit_of(page), offset_of(page));
}

Result<Rollback> SqlRunStore::roll_back(const RollbackRequest& request) {
  Rollback rollback;
  STARLING_TRY(access_.writes.run([&](Connection& connection) -> Status {
    STARLING_ASSIGN(rollback, roll_back_in(connection, request));
    return {};
  }));
  return rollback;
}

Result<std::vector<Rollback>> SqlRunStore::rollbacks(const RunId& run_id) const {
  return select(access_,
                "SELECT run_id, round, to_round, state_digest, at_ms FROM rollback WHERE run_id = ? ORDER BY round",
                read_rollback, run_id);
}

}  // namespace starling::db
