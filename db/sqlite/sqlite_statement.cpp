#include <fmt/core.h>
#include <sqlite3.h>

#include <algorithm>
#include <utility>

#include "db/sqlite/sqlite_connection.h"

namespace starling::db {

SqliteStatement::~SqliteStatement() { sqlite3_finalize(raw_); }

void SqliteStatement::retire() {
  sqlite3_reset(raw_);
  sqlite3_clear_bindings(raw_);
  bind_error_ = SQLITE_OK;
  owner_.cache().give_back(std::unique_ptr<SqliteStatement>(this));
}

void SqliteStatement::note(int code) {
  if (bind_error_ == SQLITE_OK) bind_error_ = code;
}

void SqliteStatement::bind_integer(int index, std::int64_t value) { note(sqlite3_bind_int64(raw_, index, value)); }

void SqliteStatement::bind_real(int index, double value) { note(sqlite3_bind_double(raw_, index, value)); }

void SqliteStatement::bind_text(int index, std::string_view value) {
  // A null pointer would bind NULL; an empty text is not NULL.
  const char* data = value.data() != nullptr ? value.data() : "";
  note(sqlite3_bind_text64(raw_, index, data, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void SqliteStatement::bind_blob(int index, std::span<const std::uint8_t> bytes) {
  // A null pointer would bind NULL; an empty blob is not NULL.
  constexpr std::uint8_t kNothing = 0;
  const std::uint8_t* data = bytes.empty() ? &kNothing : bytes.data();
  note(sqlite3_bind_blob64(raw_, index, data, bytes.size(), SQLITE_TRANSIENT));
}

void SqliteStatement::bind_null(int index) { note(sqlite3_bind_null(raw_, index)); }

Result<bool> SqliteStatement::step() {
  const int code = bind_error_ != SQLITE_OK ? bind_error_ : sqlite3_step(raw_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  Error error = owner_.error(code, sql_);
  sqlite3_reset(raw_);
  return error;
}

void SqliteStatement::reset() {
  sqlite3_reset(raw_);
  bind_error_ = SQLITE_OK;
}

bool SqliteStatement::is_null(int column) const { return sqlite3_column_type(raw_, column) == SQLITE_NULL; }

std::int64_t SqliteStatement::integer(int column) const { return sqlite3_column_int64(raw_, column); }

double SqliteStatement::real(int column) const { return sqlite3_column_double(raw_, column); }

std::string SqliteStatement::text(int column) const {
  const void* data = sqlite3_column_blob(raw_, column);
  const int size = sqlite3_column_bytes(raw_, column);
  return data != nullptr ? std::string(static_cast<const char*>(data), static_cast<std::size_t>(size)) : std::string();
}

Status SqliteStatement::read_blob(int column, std::span<std::uint8_t> out) const {
  const void* data = sqlite3_column_blob(raw_, column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(raw_, column));
  if (data == nullptr || size != out.size()) {
    return Error{ErrorCode::corrupt, fmt::format("{}: an id of {} bytes where {} belong, in \"{}\"", owner_.name(),
                                                 size, out.size(), sql_)};
  }
  std::copy_n(static_cast<const std::uint8_t*>(data), size, out.begin());
  return {};
}

}  // namespace starling::db
