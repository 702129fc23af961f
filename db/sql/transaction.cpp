#include "db/sql/transaction.h"

namespace starling::db {

Result<Transaction> Transaction::begin(Connection& connection, TransactionKind kind) {
  STARLING_TRY(connection.driver().begin(kind));
  return Transaction(connection);
}

Transaction::~Transaction() {
  // The database has rolled back by itself after some errors; then there is nothing left to undo.
  if (connection_ != nullptr) connection_->driver().roll_back();
}

Status Transaction::commit() {
  STARLING_TRY(connection_->driver().commit());  // on failure the destructor rolls back
  connection_ = nullptr;
  return {};
}

Result<Savepoint> Savepoint::begin(Connection& connection) {
  STARLING_ASSIGN(Statement statement, connection.prepare("SAVEPOINT part"));
  STARLING_TRY(statement.run());
  return Savepoint(connection);
}

Savepoint::~Savepoint() {
  if (connection_ != nullptr) static_cast<void>(undo());
}

Status Savepoint::release() {
  STARLING_ASSIGN(Statement statement, connection_->prepare("RELEASE SAVEPOINT part"));
  STARLING_TRY(statement.run());
  connection_ = nullptr;
  return {};
}

Status Savepoint::undo() {
  Connection& connection = *std::exchange(connection_, nullptr);
  STARLING_ASSIGN(Statement rollback, connection.prepare("ROLLBACK TO SAVEPOINT part"));
  STARLING_TRY(rollback.run());
  STARLING_ASSIGN(Statement release, connection.prepare("RELEASE SAVEPOINT part"));
  return release.run();
}

}  // namespace starling::db
