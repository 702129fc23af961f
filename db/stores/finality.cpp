#include "db/stores/finality.h"

namespace starling::db {

// The run's round in work is above all rounds with lines, so none of these becomes pending.
Status begin_waiting(Connection& connection, const RoundResult& result) {
  if (result.wait <= 0) return {};
  STARLING_ASSIGN(Statement begin,
                  connection.prepare("UPDATE run SET final_below = CASE WHEN round > ?1 THEN round ELSE ?1 END "
                                     "WHERE run_id = ?2 AND final_below IS NULL"));
  return begin.bind(result.record.round, result.record.run_id).run();
}

Status advance_final(Connection& connection, const RoundResult& result) {
  if (result.wait <= 0 && result.final_below <= 0) return {};
  STARLING_ASSIGN(Statement advance,
                  connection.prepare("UPDATE run SET final_below = ?1 WHERE run_id = ?2 AND final_below < ?1"));
  STARLING_TRY(advance.bind(result.final_below, result.record.run_id).run());
  return make_final_if_over(connection, result.record.run_id);
}

Status make_final_if_over(Connection& connection, const RunId& run_id) {
  STARLING_ASSIGN(Statement end, connection.prepare("UPDATE run SET final_below = round WHERE run_id = ? AND "
                                                    "final_below < round AND (state = 'complete' OR retired_ms > 0)"));
  return end.bind(run_id).run();
}

}  // namespace starling::db
