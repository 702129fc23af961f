#include "db/sqlite/sqlite_connection.h"

#include <fmt/core.h>
#include <sqlite3.h>

#include <system_error>
#include <utility>

#include "db/sqlite/errors.h"
#include "shared/base/verify.h"

namespace starling::db {
namespace {

constexpr std::size_t kStatementsMax = 64;

// Settings that must be made before everything else.
constexpr const char* kSettings =
    "PRAGMA foreign_keys = ON;"
    "PRAGMA recursive_triggers = ON;"  // otherwise INSERT OR REPLACE deletes without the delete triggers
    "PRAGMA synchronous = FULL;"
    "PRAGMA trusted_schema = OFF;"
    "PRAGMA cell_size_check = ON;"
    "PRAGMA wal_autocheckpoint = 0;"
    "PRAGMA journal_size_limit = 67108864;";  // bytes; a checkpoint shrinks the WAL's file to this size

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

Status missing_file(const std::filesystem::path& file, const FileOptions& options) {
  std::error_code ignored;
  // A custom file layer may keep its files anywhere.
  if (options.mode == OpenMode::create || !options.vfs.empty() || std::filesystem::exists(file, ignored)) return {};
  return Error{ErrorCode::not_found, fmt::format("open database '{}': there is no such file", file.string())};
}

}  // namespace

Result<Connection> open_file(const std::filesystem::path& file, const FileOptions& options) {
  STARLING_ASSIGN(auto opened, SqliteConnection::open(file, options));
  return Connection(std::move(opened));
}

Status checkpoint(Connection& connection, bool truncate) {
  auto* driver = dynamic_cast<SqliteConnection*>(&connection.driver());
  VERIFY(driver != nullptr);
  return driver->checkpoint(truncate);
}

void SqliteConnection::CloseHandle::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

SqliteConnection::SqliteConnection(const std::filesystem::path& file, sqlite3* opened)
    : name_(fmt::format("database '{}'", file.string())), handle_(opened), cache_(kStatementsMax) {}

Result<std::unique_ptr<SqliteConnection>> SqliteConnection::open(const std::filesystem::path& file,
                                                                 const FileOptions& options) {
  STARLING_TRY(missing_file(file, options));
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &raw, open_flags(options.mode),
                                   options.vfs.empty() ? nullptr : options.vfs.c_str());
  std::unique_ptr<SqliteConnection> connection(new SqliteConnection(file, raw));
  if (code != SQLITE_OK) return connection->error(code, "").prefixed("open");
  STARLING_TRY(connection->set_up(options));
  return connection;
}

Status SqliteConnection::set_up(const FileOptions& options) {
  sqlite3_extended_result_codes(handle_.get(), 1);
  sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  // Only checkpoint() checkpoints; closing a connection must never do it without the owner's knowledge.
  sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  busy_timeout_ms_ = static_cast<int>(to_ms(options.busy_timeout));
  sqlite3_busy_timeout(handle_.get(), busy_timeout_ms_);
  STARLING_TRY(execute(kSettings));
  if (options.mode != OpenMode::read_only) STARLING_TRY(use_wal());
  // Reads the first page, which reveals a file that is not a database.
  return run("PRAGMA schema_version");
}

// The setting is stored in the file. If WAL is not available, only SQLite's answer says so.
Status SqliteConnection::use_wal() {
  STARLING_ASSIGN(const StatementHandle statement, prepare("PRAGMA journal_mode = WAL"));
  STARLING_ASSIGN(const bool row, statement->step());
  if (row && statement->text(0) == "wal") return {};
  return Error{ErrorCode::unsupported,
               fmt::format("{}: this file system cannot hold a shared WAL index; choose a local disk", name_)};
}

Result<StatementHandle> SqliteConnection::prepare(std::string_view sql) {
  if (auto cached = cache_.take(sql)) return StatementHandle(cached.release());
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  if (code != SQLITE_OK) return error(code, sql);
  VERIFY(raw != nullptr);  // an empty statement
  return StatementHandle(std::make_unique<SqliteStatement>(*this, std::string(sql), raw).release());
}

Status SqliteConnection::execute(const std::string& script) {
  const int code = sqlite3_exec(handle_.get(), script.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error(code, script);
  return {};
}

Status SqliteConnection::run(std::string_view sql) {
  STARLING_ASSIGN(const StatementHandle statement, prepare(sql));
  for (;;) {
    STARLING_ASSIGN(const bool row, statement->step());
    if (!row) return {};
  }
}

// IMMEDIATE, because a transaction that reads first and writes later would fail at once if another has written.
Status SqliteConnection::begin(TransactionKind kind) {
  return run(kind == TransactionKind::write ? "BEGIN IMMEDIATE" : "BEGIN");
}

void SqliteConnection::roll_back() { static_cast<void>(execute("ROLLBACK")); }

Status SqliteConnection::checkpoint(bool truncate) {
  sqlite3_busy_timeout(handle_.get(), 0);
  const int mode = truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE;
  const int code = sqlite3_wal_checkpoint_v2(handle_.get(), nullptr, mode, nullptr, nullptr);
  sqlite3_busy_timeout(handle_.get(), busy_timeout_ms_);
  if (code != SQLITE_OK) return error(code, "checkpoint");
  return {};
}

Error SqliteConnection::error(int code, std::string_view sql) const {
  return error_from(handle_.get(), code, name_, sql);
}

std::int64_t SqliteConnection::changes() const { return sqlite3_changes64(handle_.get()); }

bool SqliteConnection::in_transaction() const { return sqlite3_get_autocommit(handle_.get()) == 0; }

}  // namespace starling::db
