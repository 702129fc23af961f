#include "db/sql/connection.h"

namespace starling::db {

Result<Statement> Connection::prepare(std::string_view sql) {
  STARLING_ASSIGN(StatementHandle handle, driver_->prepare(sql));
  return Statement(std::move(handle));
}

Result<std::int64_t> Connection::query_int(std::string_view sql) {
  STARLING_ASSIGN(Statement statement, prepare(sql));
  STARLING_ASSIGN(const bool row, statement.step());
  return row ? statement.integer(0) : 0;
}

Status Statement::run() {
  for (;;) {
    STARLING_ASSIGN(const bool row, step());
    if (!row) break;
  }
  reset();
  return {};
}

}  // namespace starling::db
