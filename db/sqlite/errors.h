// SQLite's result codes as our errors. Used inside db/sqlite only.
#pragma once

#include <string>
#include <string_view>

#include "shared/base/result.h"

struct sqlite3;

namespace starling::db {

// `code` is an extended result code; `connection` may be null; `database` is as from ConnectionDriver::name(). The
// error codes are those of db/sql/connection.h, with internal for results that SQLite is never expected to return.
Error error_from(sqlite3* connection, int code, const std::string& database, std::string_view sql);

}  // namespace starling::db
