// Copies between the two kinds of database: used to move a project to a server, and to back up one on a server.
#pragma once

#include "db/sql/connection.h"
#include "shared/base/result.h"

namespace starling::db {

// Copies every row of `from`, as of one moment while others write, into `to`, which has an equal schema and no rows but
// those of the schema itself. Copies all or nothing; row numbers that were ever used are never used again. Errors:
// already_exists: `to` has rows · failed_precondition: the schemas differ.
Status copy_contents(Connection& from, Connection& to);

}  // namespace starling::db
