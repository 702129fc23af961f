// Connections to a SQLite file. Only this folder includes sqlite3.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "db/sql/connection.h"
#include "shared/base/clock.h"
#include "shared/base/result.h"

namespace starling::db {

// Access of a connection to its file. One that may write also turns the write-ahead log on.
enum class OpenMode : std::uint8_t {
  read_only,   // never writes, never checkpoints
  read_write,  // the file must exist
  create,      // creates the file if there is none
};

// Settings of one connection; each connection to a file may have others.
struct FileOptions {
  OpenMode mode = OpenMode::read_only;
  Duration busy_timeout = from_ms(5'000);  // longest wait for a lock of another process
  std::string vfs = {};                    // SQLite's file layer; empty: the default one
};

// Opens the file with WAL, synchronous = FULL, foreign keys, and no automatic checkpoints: the owner calls
// checkpoint(). Errors: not_found: the file is missing; corrupt: it is not a database.
Result<Connection> open_file(const std::filesystem::path& file, const FileOptions& options);

// Moves as much of the WAL as possible into the file. With `truncate` the WAL is emptied too; if a reader still needs
// it, the error is unavailable, at once and without a wait. `connection` must come from open_file().
Status checkpoint(Connection& connection, bool truncate);

}  // namespace starling::db
