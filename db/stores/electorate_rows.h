// Rows of seated groups, inside a transaction of somebody else's.
#pragma once

#include "db/sql/connection.h"
#include "db/stores/records.h"

namespace starling::db {

// A group that is there already stays as it is.
Status insert_seated_group(Connection& connection, const RunId& run_id, const SeatedGroup& group);
// Those of rounds before `below` go, with their seats.
Status delete_seated_groups(Connection& connection, const RunId& run_id, RoundIndex below);

}  // namespace starling::db
