// Rows of state chains, inside the caller's transaction.
#pragma once

#include <string>

#include "db/sql/connection.h"
#include "db/stores/records.h"

namespace starling::db {

// An existing link stays unchanged.
Status insert_link(Connection& connection, const RunId& run_id, RoundIndex round, const std::string& link);
// Replaces the run's statement, and deletes links of rounds before it.
Status put_statement(Connection& connection, const RunId& run_id, const StateStatement& statement);

}  // namespace starling::db
