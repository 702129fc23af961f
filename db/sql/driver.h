// The operations that a kind of database implements for Connection and Statement. Implemented by db/sqlite and
// db/postgres; nothing else calls it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "shared/base/result.h"

namespace starling::db {

// A compiled statement. Parameters count from 1, columns from 0; step() reports errors of binding.
class StatementDriver {
 public:
  virtual ~StatementDriver() = default;
  virtual void bind_integer(int index, std::int64_t value) = 0;
  virtual void bind_real(int index, double value) = 0;  // not a number: NULL
  virtual void bind_text(int index, std::string_view value) = 0;
  virtual void bind_blob(int index, std::span<const std::uint8_t> bytes) = 0;
  virtual void bind_null(int index) = 0;
  virtual Result<bool> step() = 0;  // true: there is a row
  virtual void reset() = 0;         // before binding and running again

  // Read the present row; NULL is 0 or empty.
  [[nodiscard]] virtual bool is_null(int column) const = 0;
  [[nodiscard]] virtual std::int64_t integer(int column) const = 0;
  [[nodiscard]] virtual double real(int column) const = 0;
  [[nodiscard]] virtual std::string text(int column) const = 0;
  virtual Status read_blob(int column, std::span<std::uint8_t> out) const = 0;  // error corrupt: its size differs

  // Ends its use and returns it to the cache it came from. The caller's pointer is then invalid.
  virtual void retire() = 0;
};

// Deleter of a statement's handle: the statement returns to its connection's cache, which must still be there.
struct RetireStatement {
  void operator()(StatementDriver* statement) const { statement->retire(); }
};
using StatementHandle = std::unique_ptr<StatementDriver, RetireStatement>;

// The kind of database behind a connection, for the few places where its SQL differs.
enum class Dialect : std::uint8_t { sqlite, postgres };

// Whether a transaction may write, which must be known at its beginning.
enum class TransactionKind : std::uint8_t {
  read,   // a consistent view; keep it short, since it delays the database's clean-up
  write,  // waits for other writers at its beginning, not at its first write: one process writes at a time
};

// One connection, used by one thread at a time. It outlives its statements; errors are those of Connection
// (connection.h).
class ConnectionDriver {
 public:
  virtual ~ConnectionDriver() = default;
  virtual Result<StatementHandle> prepare(std::string_view sql) = 0;
  virtual Status execute(const std::string& script) = 0;
  virtual Status begin(TransactionKind kind) = 0;
  virtual Status commit() = 0;
  virtual void roll_back() = 0;  // harmless if there is nothing to undo

  [[nodiscard]] virtual std::int64_t changes() const = 0;
  [[nodiscard]] virtual bool in_transaction() const = 0;
  [[nodiscard]] virtual bool usable() const = 0;
  [[nodiscard]] virtual const std::string& name() const = 0;
  [[nodiscard]] virtual Dialect dialect() const = 0;
};

}  // namespace starling::db
