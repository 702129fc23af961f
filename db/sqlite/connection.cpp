#include "db/sqlite/connection.h"

#include <fmt/core.h>
#include <sqlite3.h>

#include <system_error>
#include <utility>

#include "db/sqlite/errors.h"
#include "db/sqlite/statement_cache.h"

namespace starling::db {
namespace {

struct CloseHandle {
  void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
};
using Handle = std::unique_ptr<sqlite3, CloseHandle>;

// Before anything else; the rest needs these.
constexpr const char* kSettings =
    "PRAGMA foreign_keys = ON;"
    "PRAGMA recursive_triggers = ON;"  // else INSERT OR REPLACE deletes without the delete triggers
    "PRAGMA synchronous = FULL;"
    "PRAGMA trusted_schema = OFF;"
    "PRAGMA cell_size_check = ON;"
    "PRAGMA wal_autocheckpoint = 0;"
    "PRAGMA journal_size_limit = 67108864;";  // bytes; the WAL's file shrinks to it after a checkpoint

int open_flags(OpenMode mode) {
  switch (mode) {
    case OpenMode::read_only:
      return SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX;
    case OpenMode::read_write:
      return SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    case OpenMode::create:
      return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  }
  return 0;
}

Status missing_file(const std::filesystem::path& file, const ConnectionOptions& options) {
  std::error_code ignored;
  // A file layer of its own keeps its files where it likes.
  if (options.mode == OpenMode::create || !options.vfs.empty() || std::filesystem::exists(file, ignored)) return {};
  return Error{ErrorCode::not_found, fmt::format("open database '{}': there is no such file", file.string())};
}

// The setting is kept in the file; where it cannot be had, SQLite only says so in the answer.
Status use_wal(Connection& connection) {
  STARLING_ASSIGN(Statement statement, connection.prepare("PRAGMA journal_mode = WAL"));
  STARLING_ASSIGN(const bool row, statement.step());
  if (row && statement.text(0) == "wal") return {};
  return Error{ErrorCode::unsupported,
               fmt::format("database '{}': this file system cannot hold a shared WAL index; choose a local disk",
                           connection.file().string())};
}

}  // namespace

struct Connection::State {
  std::filesystem::path file;
  int busy_timeout_ms = 0;
  Handle handle;  // closed after the cache has finalized its statements
  StatementCache cache;

  State(std::filesystem::path path, Handle opened)
      : file(std::move(path)), handle(std::move(opened)), cache(handle.get(), file) {}
};

Connection::Connection(std::unique_ptr<State> state) : state_(std::move(state)) {}
Connection::Connection(Connection&&) noexcept = default;
Connection& Connection::operator=(Connection&&) noexcept = default;
Connection::~Connection() = default;

Result<Connection> Connection::open(const std::filesystem::path& file, const ConnectionOptions& options) {
  STARLING_TRY(missing_file(file, options));
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &raw, open_flags(options.mode),
                                   options.vfs.empty() ? nullptr : options.vfs.c_str());
  Handle handle(raw);
  if (code != SQLITE_OK) return error_from(raw, code, file, "").prefixed("open");
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  // Only checkpoint() checkpoints; closing a connection never does it behind the owner's back.
  sqlite3_db_config(raw, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  Connection connection(std::make_unique<State>(file, std::move(handle)));
  connection.state_->busy_timeout_ms = static_cast<int>(to_ms(options.busy_timeout));
  sqlite3_busy_timeout(raw, connection.state_->busy_timeout_ms);
  STARLING_TRY(connection.execute(kSettings));
  if (options.mode != OpenMode::read_only) STARLING_TRY(use_wal(connection));
  // Reads the first page: a file that is no database is found out here.
  STARLING_TRY(connection.query_int("PRAGMA schema_version").status());
  return connection;
}

Result<Statement> Connection::prepare(std::string_view sql) {
  std::string key(sql);
  if (sqlite3_stmt* cached = state_->cache.take(key)) return Statement(state_->cache, std::move(key), cached);
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v3(state_->handle.get(), key.data(), static_cast<int>(key.size()),
                                      SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  if (code != SQLITE_OK) return error_from(state_->handle.get(), code, state_->file, sql);
  VERIFY(raw != nullptr);  // an empty statement
  return Statement(state_->cache, std::move(key), raw);
}

Status Connection::execute(const std::string& script) {
  const int code = sqlite3_exec(state_->handle.get(), script.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error_from(state_->handle.get(), code, state_->file, script);
  return {};
}

Result<std::int64_t> Connection::query_int(std::string_view sql) {
  STARLING_ASSIGN(Statement statement, prepare(sql));
  STARLING_ASSIGN(const bool row, statement.step());
  return row ? statement.integer(0) : 0;
}

Status Connection::checkpoint(bool truncate) {
  sqlite3_busy_timeout(state_->handle.get(), 0);
  const int mode = truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE;
  const int code = sqlite3_wal_checkpoint_v2(state_->handle.get(), nullptr, mode, nullptr, nullptr);
  sqlite3_busy_timeout(state_->handle.get(), state_->busy_timeout_ms);
  if (code != SQLITE_OK) return error_from(state_->handle.get(), code, state_->file, "checkpoint");
  return {};
}

std::int64_t Connection::changes() const { return sqlite3_changes64(state_->handle.get()); }

bool Connection::in_transaction() const { return sqlite3_get_autocommit(state_->handle.get()) == 0; }

const std::filesystem::path& Connection::file() const { return state_->file; }

}  // namespace starling::db
