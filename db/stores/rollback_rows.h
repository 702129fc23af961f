// Rows of rollbacks, inside the caller's transaction.
#pragma once

#include <cstdint>

#include "db/sql/connection.h"
#include "db/stores/records.h"
#include "shared/base/result.h"

namespace starling::db {

// failed_precondition unless the run has been rolled back that many times. A writer that knows of fewer rollbacks
// writes about rounds that are given up.
Status expect_rollbacks(Connection& connection, const RunId& run_id, std::int64_t known);

// Everything that a rollback changes.
Result<Rollback> roll_back_in(Connection& connection, const RollbackRequest& request);

}  // namespace starling::db
