#include "db/sqlite/errors.h"

#include <fmt/core.h>
#include <sqlite3.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "db/sql/failure_text.h"

namespace starling::db {
namespace {

ErrorCode constraint_code(int extended) {
  switch (extended) {
    case SQLITE_CONSTRAINT_UNIQUE:
    case SQLITE_CONSTRAINT_PRIMARYKEY:
    case SQLITE_CONSTRAINT_ROWID:
      return ErrorCode::already_exists;
    case SQLITE_CONSTRAINT_FOREIGNKEY:
      return ErrorCode::failed_precondition;
    default:
      return ErrorCode::invalid_argument;
  }
}

ErrorCode code_of(int extended, int os_error) {
  switch (extended & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
      return ErrorCode::corrupt;
    case SQLITE_FULL:
    case SQLITE_NOMEM:
      return ErrorCode::resource_exhausted;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return ErrorCode::unavailable;
    case SQLITE_CONSTRAINT:
      return constraint_code(extended);
    case SQLITE_TOOBIG:
    case SQLITE_MISMATCH:
      return ErrorCode::invalid_argument;
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
      return ErrorCode::permission_denied;
    case SQLITE_CANTOPEN:
      return os_error == EACCES ? ErrorCode::permission_denied : ErrorCode::io;
    case SQLITE_INTERRUPT:
      return ErrorCode::deadline_exceeded;
    case SQLITE_IOERR:
      // SQLite itself reports FULL only for a plain write; errors of quotas and of the shared index file arrive here.
      return os_error == ENOSPC || os_error == EDQUOT ? ErrorCode::resource_exhausted : ErrorCode::io;
    default:
      return ErrorCode::internal;
  }
}

}  // namespace

Error error_from(sqlite3* connection, int code, const std::string& database, std::string_view sql) {
  const int os_error = connection != nullptr ? sqlite3_system_errno(connection) : 0;
  // The connection's own text is more precise, but belongs to its last failure only.
  const bool has_text = connection != nullptr && (sqlite3_errcode(connection) & 0xff) == (code & 0xff);
  std::string text = has_text ? sqlite3_errmsg(connection) : sqlite3_errstr(code);
  const int primary = code & 0xff;
  if (os_error != 0 && (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN)) {
    text += fmt::format(" ({})", std::generic_category().message(os_error));
  }
  return {code_of(code, os_error), failure_text(database, text, sql)};
}

}  // namespace starling::db
