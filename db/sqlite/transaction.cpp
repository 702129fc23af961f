#include "db/sqlite/transaction.h"

namespace starling::db {

Result<Transaction> Transaction::begin(Connection& connection, TransactionKind kind) {
  STARLING_ASSIGN(Statement statement,
                  connection.prepare(kind == TransactionKind::write ? "BEGIN IMMEDIATE" : "BEGIN"));
  STARLING_TRY(statement.run());
  return Transaction(connection);
}

Transaction::~Transaction() {
  // SQLite has rolled back by itself after some errors: then there is nothing left to undo.
  if (connection_ != nullptr) static_cast<void>(connection_->execute("ROLLBACK"));
}

Status Transaction::commit() {
  STARLING_ASSIGN(Statement statement, connection_->prepare("COMMIT"));
  STARLING_TRY(statement.run());  // on failure the destructor rolls back
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
  STARLING_ASSIGN(Statement statement, connection_->prepare("RELEASE part"));
  STARLING_TRY(statement.run());
  connection_ = nullptr;
  return {};
}

Status Savepoint::undo() {
  Connection& connection = *std::exchange(connection_, nullptr);
  STARLING_ASSIGN(Statement rollback, connection.prepare("ROLLBACK TO part"));
  STARLING_TRY(rollback.run());
  STARLING_ASSIGN(Statement release, connection.prepare("RELEASE part"));
  return release.run();
}

}  // namespace starling::db
