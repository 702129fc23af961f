// From one kind of database to the other: what moves a project to a server, and what a backup of one on a server is.
#pragma once

#include "db/sql/connection.h"
#include "shared/base/result.h"

namespace starling::db {

// Copies every row of `from`, as of one moment while others write, into `to`, which has the same schema and no rows but
// those that the schema brings. All of it or nothing; numbers that were given to rows are never given again.
// already_exists: there is something in `to` · failed_precondition: their schemas differ.
Status copy_contents(Connection& from, Connection& to);

}  // namespace starling::db
