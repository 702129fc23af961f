#include "db/stores/rollback_rows.h"

#include <fmt/core.h>

#include "db/stores/electorate_rows.h"
#include "db/stores/state_chain_rows.h"

namespace starling::db {
namespace {

// The run's round in work. Copies may be of a round that the store has not heard of yet.
Result<RoundIndex> round_in_work(Connection& connection, const RunId& run_id) {
  STARLING_ASSIGN(Statement run,
                  connection.prepare("SELECT (SELECT max(round) FROM (SELECT run.round AS round UNION ALL SELECT round "
                                     "FROM checkpoint WHERE checkpoint.run_id = run.run_id) AS rounds), state, "
                                     "retired_ms FROM run WHERE run_id = ?"));
  STARLING_ASSIGN(const bool found, run.bind(run_id).step());
  if (!found) return Error{ErrorCode::not_found, fmt::format("there is no run '{}'", run_id)};
  if (run.text(1) == "complete" || run.integer(2) != 0) {
    return Error{ErrorCode::failed_precondition, fmt::format("run '{}' is over", run_id)};
  }
  return run.integer(0);
}

Status add_row(Connection& connection, const Rollback& rollback) {
  STARLING_ASSIGN(Statement add, connection.prepare("INSERT INTO rollback (run_id, round, to_round, state_digest, "
                                                    "at_ms) VALUES (?, ?, ?, ?, ?)"));
  return add.bind(rollback.run_id, rollback.round, rollback.to_round, rollback.state_digest, rollback.at.unix_ms).run();
}

// The run goes on with the copy, which is therefore the newest one.
Status go_on_with_copy(Connection& connection, const Rollback& rollback) {
  STARLING_ASSIGN(Statement advance, connection.prepare("UPDATE run SET round = ? WHERE run_id = ?"));
  STARLING_TRY(advance.bind(rollback.round + 1, rollback.run_id).run());
  STARLING_ASSIGN(Statement copy,
                  connection.prepare("INSERT INTO checkpoint (run_id, round, state_digest, artefact, bytes, peer_id, "
                                     "at_ms) SELECT run_id, CAST(? AS BIGINT), state_digest, artefact, bytes, peer_id, "
                                     "CAST(? AS BIGINT) FROM checkpoint WHERE run_id = ? AND round = ?"));
  return copy.bind(rollback.round + 1, rollback.at.unix_ms, rollback.run_id, rollback.to_round).run();
}

// Samples that were trained in the rounds that are given up are dealt again.
Status free_samples(Connection& connection, const Rollback& rollback) {
  STARLING_ASSIGN(Statement count,
                  connection.prepare(
                      "UPDATE sample_epoch SET counted = counted - coalesce((SELECT sum(samples) FROM "
                      "sample_counted WHERE run = (SELECT number FROM run WHERE run_id = ?1) AND sample_counted.epoch "
                      "= sample_epoch.epoch AND round >= ?2), 0) WHERE run_id = ?1"));
  STARLING_TRY(count.bind(rollback.run_id, rollback.to_round).run());
  STARLING_ASSIGN(Statement free,
                  connection.prepare("DELETE FROM sample_counted WHERE run = (SELECT number FROM run WHERE run_id = ?) "
                                     "AND round >= ?"));
  return free.bind(rollback.run_id, rollback.to_round).run();
}

}  // namespace

Status expect_rollbacks(Connection& connection, const RunId& run_id, std::int64_t known) {
  STARLING_ASSIGN(Statement count, connection.prepare("SELECT count(*) FROM rollback WHERE run_id = ?"));
  STARLING_TRY(count.bind(run_id).step().status());
  if (count.integer(0) == known) return {};
  return Error{ErrorCode::failed_precondition, fmt::format("run '{}' was rolled back meanwhile", run_id)};
}

Result<Rollback> roll_back_in(Connection& connection, const RollbackRequest& request) {
  Rollback rollback{request.run_id, 0, request.to_round, {}, request.now};
  STARLING_ASSIGN(rollback.round, round_in_work(connection, request.run_id));
  if (request.to_round >= rollback.round) {
    return Error{
        ErrorCode::invalid_argument,
        fmt::format("run '{}' is at round {}, and goes back to an earlier one only", request.run_id, rollback.round)};
  }
  STARLING_ASSIGN(Statement copy,
                  connection.prepare("SELECT state_digest FROM checkpoint WHERE run_id = ? AND round = ?"));
  STARLING_ASSIGN(const bool kept, copy.bind(request.run_id, request.to_round).step());
  if (!kept) {
    return Error{ErrorCode::not_found,
                 fmt::format("no copy of the state of round {} of run '{}' is kept", request.to_round, request.run_id)};
  }
  STARLING_TRY(copy.read_id(0, rollback.state_digest));
  copy.reset();
  STARLING_TRY(add_row(connection, rollback));
  STARLING_TRY(go_on_with_copy(connection, rollback));
  STARLING_TRY(free_samples(connection, rollback));
  STARLING_TRY(delete_seated_groups(connection, request.run_id, INT64_MAX));
  if (request.state) {
    const RoundIndex next = rollback.round + 1;
    STARLING_TRY(put_statement(connection, request.run_id, request.state(next, rollback.state_digest)));
  }
  return rollback;
}

}  // namespace starling::db
