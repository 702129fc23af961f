// Connections to a SQLite file. Only this folder sees sqlite3.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "db/sql/connection.h"
#include "shared/base/clock.h"
#include "shared/base/result.h"

namespace starling::db {

enum class OpenMode : std::uint8_t {
  read_only,   // never writes, never checkpoints
  read_write,  // the file must exist
  create,      // makes the file when there is none
};

struct FileOptions {
  OpenMode mode = OpenMode::read_only;
  Duration busy_timeout = from_ms(5'000);  // how long a lock of another process is waited for
  std::string vfs = {};                    // SQLite's file layer; empty: the default one
};

// WAL, synchronous = FULL, foreign keys on, no automatic checkpoints: the owner decides when, by checkpoint().
// not_found when the file is missing; corrupt when it is not a database.
Result<Connection> open_file(const std::filesystem::path& file, const FileOptions& options);

// Moves what it can of the WAL into the file. With `truncate` the WAL is emptied too: unavailable at once, not after a
// wait, when a reader still needs it. A connection that open_file() made.
Status checkpoint(Connection& connection, bool truncate);

}  // namespace starling::db
