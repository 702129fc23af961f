// One connection to the coordinator's database, either SQLite (db/sqlite) or PostgreSQL (db/postgres). A connection and
// the objects it creates belong to one thread at a time.
//
// Statements are written once, in SQL that both understand:
//   ?1, ?2 or ? for parameters, all of them ?N or all ?; CAST(?1 AS BIGINT) where a parameter's type does not follow
//   from its surroundings · ON CONFLICT … DO UPDATE with the table's name before its own columns · an alias for each
//   subquery in FROM · CASE for the greater of two · unixepoch() and log2(), which the schema adds to PostgreSQL.
// Names of people and teams are compared by name_keys.h alone, not by a database's rules.
//
// Errors name the database, the statement and the reason. Their codes, on both: corrupt: damaged or not a database of
// ours · resource_exhausted: disk full, quota, memory, too many connections · unavailable: locked by another process,
// or the server is away · already_exists: UNIQUE or PRIMARY KEY · failed_precondition: FOREIGN KEY · invalid_argument:
// CHECK, NOT NULL, type, too big, trigger · permission_denied: read-only, no access · io: the disk failed ·
// unsupported: the server is too old · internal: wrong SQL or wrong use.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "db/sql/driver.h"
#include "db/sql/statement.h"
#include "shared/base/result.h"

namespace starling::db {

class Connection {
 public:
  explicit Connection(std::unique_ptr<ConnectionDriver> driver) : driver_(std::move(driver)) {}

  // A compiled statement, taken from the connection's cache if it was used before.
  Result<Statement> prepare(std::string_view sql);
  // Runs every statement of a script; rows are dropped.
  Status execute(const std::string& script) { return driver_->execute(script); }
  // The first column of the first row as a number.
  Result<std::int64_t> query_int(std::string_view sql);

  // The number of rows changed by the last INSERT, UPDATE or DELETE.
  [[nodiscard]] std::int64_t changes() const { return driver_->changes(); }
  // False also after the database has abandoned a transaction by itself.
  [[nodiscard]] bool in_transaction() const { return driver_->in_transaction(); }
  // False if the server is gone: then only a new connection helps.
  [[nodiscard]] bool usable() const { return driver_->usable(); }
  // The name used in errors: "database '/srv/p/coordinator.db'".
  [[nodiscard]] const std::string& name() const { return driver_->name(); }
  // Only for SQL that is written twice: the schema, and queries about the database itself.
  [[nodiscard]] Dialect dialect() const { return driver_->dialect(); }
  [[nodiscard]] ConnectionDriver& driver() { return *driver_; }  // for Transaction, and for features of one kind alone

 private:
  std::unique_ptr<ConnectionDriver> driver_;
};

}  // namespace starling::db
