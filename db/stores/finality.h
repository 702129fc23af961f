// Which credit is final. Inside writes of db/stores only; triggers of the schema keep the pending sums.
#pragma once

#include "db/sql/connection.h"
#include "db/stores/training_stores.h"
#include "shared/base/result.h"

namespace starling::db {

// Makes credit of a run with a wait pending from this round on, unless it is already. Before the round is inserted.
Status begin_waiting(Connection& connection, const RoundResult& result);
// Makes lines final that this round says are, or all of a run that is over. After the round's lines were inserted.
Status advance_final(Connection& connection, const RoundResult& result);
// All lines of a run that is complete or retired are final.
Status make_final_if_over(Connection& connection, const RunId& run_id);

}  // namespace starling::db
