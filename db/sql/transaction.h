// Transactions and savepoints that undo themselves unless they are committed or released.
#pragma once

#include <utility>

#include "db/sql/connection.h"
#include "shared/base/result.h"

namespace starling::db {

class Transaction {
 public:
  static Result<Transaction> begin(Connection& connection, TransactionKind kind);
  Transaction(Transaction&& other) noexcept : connection_(std::exchange(other.connection_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();  // rolls back unless committed

  // Success means that the data is on the disk. After a failure nothing of the transaction remains, with one exception:
  // if the connection to a server broke during the commit (usable() is false), the outcome is unknown.
  Status commit();

 private:
  explicit Transaction(Connection& connection) : connection_(&connection) {}
  Connection* connection_;
};

// A part of a transaction that can be undone alone.
class Savepoint {
 public:
  static Result<Savepoint> begin(Connection& connection);
  Savepoint(Savepoint&& other) noexcept : connection_(std::exchange(other.connection_, nullptr)) {}
  Savepoint& operator=(Savepoint&&) = delete;
  ~Savepoint();  // undoes unless released

  Status release();
  // An error means that the whole transaction is lost.
  Status undo();

 private:
  explicit Savepoint(Connection& connection) : connection_(&connection) {}
  Connection* connection_;
};

}  // namespace starling::db
