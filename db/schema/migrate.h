// Brings a database to the schema of this program.
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

// The numbered scripts of migrations/ and migrations/postgres/, in order; part of the binary. The last of both has the
// same number, and makes the same tables.
std::span<const Migration> sqlite_migrations();
std::span<const Migration> postgres_migrations();

// The newest script that a database has seen; 0 for a new one.
Result<std::int64_t> schema_version(Connection& connection);

// Applies what is missing, each script in a transaction of its own: whatever interrupts it, the next call
// goes on from there. unsupported: a newer program wrote the database. corrupt: it is no database of ours.
// Nothing is changed in either case.
Status migrate(Connection& connection);

// The same with scripts of the caller's choice.
Status migrate(Connection& connection, std::span<const Migration> scripts);

}  // namespace starling::db
