// Rows of seated groups, inside the caller's transaction.
#pragma once

#include "db/sql/connection.h"
#include "db/stores/records.h"

namespace starling::db {

// An existing group stays unchanged.
Status insert_seated_group(Connection& connection, const RunId& run_id, const SeatedGroup& group);
// Deletes groups of rounds before `below`, with their seats.
Status delete_seated_groups(Connection& connection, const RunId& run_id, RoundIndex below);

}  // namespace starling::db
