#include <limits>

#include "db/stores/sql_stores.h"

namespace starling::db {
namespace {

constexpr std::string_view kFigures =
    "SELECT run_id, round, avg(bits_per_byte), avg(loss), max(bytes), min(at_ms), count(*), avg(accuracy) FROM "
    "evaluation "
    "WHERE run_id = ? GROUP BY run_id, round ";

Result<Evaluation> read_evaluation(const Statement& row) {
  Evaluation evaluation;
  evaluation.run_id = row.text(0);
  evaluation.round = row.integer(1);
  evaluation.bits_per_byte = row.real(2);
  evaluation.loss = row.real(3);
  evaluation.bytes = row.integer(4);
  evaluation.at = {row.integer(5)};
  evaluation.measured_by = static_cast<int>(row.integer(6));
  if (!row.is_null(7)) evaluation.accuracy = row.real(7);
  return evaluation;
}

Result<std::optional<Evaluation>> first_of(const Result<std::vector<Evaluation>>& rows) {
  if (!rows) return rows.error();
  return rows->empty() ? std::optional<Evaluation>() : std::optional<Evaluation>(rows->front());
}

}  // namespace

Status SqlEvaluationStore::add(const Evaluation& evaluation, const PeerId& measured_by) {
  return access_.writes.run(
      [&](Connection& connection) -> Status {
        STARLING_ASSIGN(
            Statement insert,
            connection.prepare("INSERT INTO evaluation (run_id, round, peer_id, bits_per_byte, loss, bytes, "
                               "at_ms, accuracy) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"));
        return insert
            .bind(evaluation.run_id, evaluation.round, measured_by, evaluation.bits_per_byte, evaluation.loss,
                  evaluation.bytes, evaluation.at.unix_ms,
                  evaluation.accuracy.value_or(std::numeric_limits<double>::quiet_NaN()))
            .run();
      },
      WriteQueue::By::leader);
}

Result<std::vector<Evaluation>> SqlEvaluationStore::list(const RunId& run_id, const Page& page) const {
  return select(access_, std::string(kFigures) + "ORDER BY round DESC LIMIT ? OFFSET ?", read_evaluation, run_id,
                limit_of(page), offset_of(page));
}

Result<std::optional<Evaluation>> SqlEvaluationStore::first(const RunId& run_id) const {
  return first_of(select(access_, std::string(kFigures) + "ORDER BY round LIMIT 1", read_evaluation, run_id));
}

Result<std::optional<Evaluation>> SqlEvaluationStore::latest(const RunId& run_id) const {
  return first_of(list(run_id, {.limit = 1, .offset = 0}));
}

}  // namespace starling::db
