#include "db/sqlite/statement.h"

#include <fmt/core.h>
#include <sqlite3.h>

#include <algorithm>
#include <utility>

#include "db/sqlite/errors.h"
#include "db/sqlite/statement_cache.h"

namespace starling::db {

StatementCache::~StatementCache() {
  for (auto& [sql, statement] : idle_) sqlite3_finalize(statement);
}

sqlite3_stmt* StatementCache::take(const std::string& sql) {
  const auto found = idle_.find(sql);
  if (found == idle_.end()) return nullptr;
  sqlite3_stmt* statement = found->second;
  idle_.erase(found);
  return statement;
}

void StatementCache::give_back(std::string sql, sqlite3_stmt* statement) {
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  const bool kept = idle_.size() < kStatementsMax && idle_.emplace(std::move(sql), statement).second;
  if (!kept) sqlite3_finalize(statement);
}

Statement::Statement(StatementCache& cache, std::string key, sqlite3_stmt* raw)
    : cache_(&cache), key_(std::move(key)), raw_(raw) {}

Statement::Statement(Statement&& other) noexcept
    : cache_(other.cache_),
      key_(std::move(other.key_)),
      raw_(std::exchange(other.raw_, nullptr)),
      bind_error_(other.bind_error_) {}

Statement::~Statement() {
  if (raw_ != nullptr) cache_->give_back(std::move(key_), raw_);
}

void Statement::note(int code) {
  if (bind_error_ == SQLITE_OK) bind_error_ = code;
}

void Statement::bind_one(int index, std::int64_t value) { note(sqlite3_bind_int64(raw_, index, value)); }

void Statement::bind_one(int index, double value) { note(sqlite3_bind_double(raw_, index, value)); }

void Statement::bind_one(int index, std::string_view value) {
  // A null pointer would bind NULL: an empty text is not nothing.
  const char* data = value.data() != nullptr ? value.data() : "";
  note(sqlite3_bind_text64(raw_, index, data, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::bind_blob(int index, std::span<const std::uint8_t> bytes) {
  note(sqlite3_bind_blob64(raw_, index, bytes.data(), bytes.size(), SQLITE_TRANSIENT));
}

Result<bool> Statement::step() {
  const int code = bind_error_ != SQLITE_OK ? bind_error_ : sqlite3_step(raw_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  Error error = error_from(cache_->connection(), code, cache_->file(), key_);
  sqlite3_reset(raw_);
  return error;
}

Status Statement::run() {
  for (;;) {
    STARLING_ASSIGN(const bool row, step());
    if (!row) break;
  }
  reset();
  return {};
}

void Statement::reset() {
  sqlite3_reset(raw_);
  bind_error_ = SQLITE_OK;
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(raw_, column); }

double Statement::real(int column) const { return sqlite3_column_double(raw_, column); }

std::string Statement::text(int column) const {
  const void* data = sqlite3_column_blob(raw_, column);
  const int size = sqlite3_column_bytes(raw_, column);
  return data != nullptr ? std::string(static_cast<const char*>(data), static_cast<std::size_t>(size)) : std::string();
}

Status Statement::read_blob(int column, std::span<std::uint8_t> out) const {
  const void* data = sqlite3_column_blob(raw_, column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(raw_, column));
  if (data == nullptr || size != out.size()) {
    return Error{ErrorCode::corrupt, fmt::format("database '{}': an id of {} bytes where {} belong, in \"{}\"",
                                                 cache_->file().string(), size, out.size(), key_)};
  }
  std::copy_n(static_cast<const std::uint8_t*>(data), size, out.begin());
  return {};
}

}  // namespace starling::db
