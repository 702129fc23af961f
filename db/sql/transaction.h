// Transactions and savepoints that undo themselves unless they were told to stay.
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

  // Ok means: on the disk. After a failure nothing of the transaction is there; only when a server's connection broke
  // in the middle of it (usable() is false) is that not known.
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
