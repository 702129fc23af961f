// One connection to one SQLite file, its statements and transactions. Only this folder sees sqlite3.h.
// A connection and what comes from it belong to one thread at a time. Errors say which file, which
// statement and what SQLite said; their codes are documented at error_from() in errors.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "db/sqlite/statement.h"
#include "shared/base/clock.h"
#include "shared/base/result.h"

struct sqlite3;

namespace starling::db {

enum class OpenMode : std::uint8_t {
  read_only,   // never writes, never checkpoints
  read_write,  // the file must exist
  create,      // makes the file when there is none
};

struct ConnectionOptions {
  OpenMode mode = OpenMode::read_only;
  Duration busy_timeout = from_ms(5'000);  // how long a lock of another process is waited for
  std::string vfs = {};                    // SQLite's file layer; empty: the default one
};

class Connection {
 public:
  // WAL, synchronous = FULL, foreign keys on, no automatic checkpoints: the owner decides when, by
  // checkpoint(). not_found when the file is missing; corrupt when it is not a database.
  static Result<Connection> open(const std::filesystem::path& file, const ConnectionOptions& options);
  Connection(Connection&&) noexcept;
  Connection& operator=(Connection&&) noexcept;
  ~Connection();

  // A compiled statement, from the connection's cache when it was used before.
  Result<Statement> prepare(std::string_view sql);
  // Runs every statement of a script; rows are dropped.
  Status execute(const std::string& script);
  // The first column of the first row as a number.
  Result<std::int64_t> query_int(std::string_view sql);

  // Moves what it can of the WAL into the file. With `truncate` the WAL is emptied too: unavailable at
  // once, not after a wait, when a reader still needs it.
  Status checkpoint(bool truncate);

  [[nodiscard]] std::int64_t changes() const;  // rows of the last INSERT, UPDATE or DELETE
  [[nodiscard]] bool in_transaction() const;   // false as well after SQLite gave one up by itself
  [[nodiscard]] const std::filesystem::path& file() const;

 private:
  struct State;
  explicit Connection(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace starling::db
