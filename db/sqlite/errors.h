// SQLite's result codes as our errors. Inside db/sqlite only.
#pragma once

#include <string>
#include <string_view>

#include "shared/base/result.h"

struct sqlite3;

namespace starling::db {

// `code` is extended; `connection` may be null; `database` as ConnectionDriver::name(). What the codes mean: db/sql's
// connection.h; internal besides: what SQLite was never expected to say.
Error error_from(sqlite3* connection, int code, const std::string& database, std::string_view sql);

}  // namespace starling::db
