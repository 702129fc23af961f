// SQLite's result codes as our errors. Inside db/sqlite only.
#pragma once

#include <filesystem>
#include <string_view>

#include "shared/base/result.h"

struct sqlite3;

namespace starling::db {

// corrupt: damaged or not a database · resource_exhausted: disk full, quota, memory · unavailable: locked
// by another process · already_exists: UNIQUE or PRIMARY KEY · failed_precondition: FOREIGN KEY ·
// invalid_argument: CHECK, NOT NULL, type, too big, trigger · permission_denied: read-only, no access ·
// io: the disk failed · internal: wrong SQL or wrong use. `code` is extended; `connection` may be null.
Error error_from(sqlite3* connection, int code, const std::filesystem::path& file, std::string_view sql);

}  // namespace starling::db
