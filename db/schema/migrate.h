// Migration of a database to the schema of this program.
#pragma once

#include <span>

#include "db/sql/connection.h"
#include "shared/base/result.h"

namespace starling::db {

struct Migration {
  int version = 0;  // without gaps
  const char* name = "";
  const char* sql = "";
};

// The numbered scripts of migrations/ and migrations/postgres/, in order; part of the binary. The last scripts of both
// have an equal number and lead to equal tables.
std::span<const Migration> sqlite_migrations();
std::span<const Migration> postgres_migrations();

// The newest script that a database has seen; 0 for a new one.
Result<std::int64_t> schema_version(Connection& connection);

// Applies the missing scripts, each in a transaction of its own; after an interruption, the next call continues.
// Errors: unsupported: a newer program wrote the database; corrupt: it is not a database of ours. Both change nothing.
Status migrate(Connection& connection);

// Applies missing scripts as above, with scripts of the caller's choice.
Status migrate(Connection& connection, std::span<const Migration> scripts);

}  // namespace starling::db
