// One connection to the coordinator's database, whatever kind it is: SQLite (db/sqlite) or PostgreSQL (db/postgres).
// A connection and what comes from it belong to one thread at a time.
//
// Statements are written once, in SQL that both understand:
//   ?1, ?2 or ? for parameters, all of them ?N or all ?; CAST(?1 AS BIGINT) where nothing around a parameter says
//   what it is · ON CONFLICT … DO UPDATE with the table's name before its own columns · an alias for each subquery in
//   FROM · CASE for the greater of two · unixepoch() and log2(), which the schema gives to PostgreSQL.
// Names of people and teams compare without case of A–Z on both.
//
// Errors say which database, which statement and why. Their codes, on both:
// corrupt: damaged or not a database of ours · resource_exhausted: disk full, quota, memory, too many connections ·
// unavailable: locked by another process, or the server is away · already_exists: UNIQUE or PRIMARY KEY ·
// failed_precondition: FOREIGN KEY · invalid_argument: CHECK, NOT NULL, type, too big, trigger · permission_denied:
// read-only, no access · io: the disk failed · unsupported: too old a server · internal: wrong SQL or wrong use.
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

  // A compiled statement, from the connection's cache when it was used before.
  Result<Statement> prepare(std::string_view sql);
  // Runs every statement of a script; rows are dropped.
  Status execute(const std::string& script) { return driver_->execute(script); }
  // The first column of the first row as a number.
  Result<std::int64_t> query_int(std::string_view sql);

  // Rows of the last INSERT, UPDATE or DELETE.
  [[nodiscard]] std::int64_t changes() const { return driver_->changes(); }
  // False as well after the database gave one up by itself.
  [[nodiscard]] bool in_transaction() const { return driver_->in_transaction(); }
  // False: its server has gone away, and only a new connection will do.
  [[nodiscard]] bool usable() const { return driver_->usable(); }
  // As errors call it: "database '/srv/p/coordinator.db'".
  [[nodiscard]] const std::string& name() const { return driver_->name(); }
  // Only for what is written twice: the schema, and what a database says of itself.
  [[nodiscard]] Dialect dialect() const { return driver_->dialect(); }
  [[nodiscard]] ConnectionDriver& driver() { return *driver_; }  // for Transaction, and for what one kind alone can do

 private:
  std::unique_ptr<ConnectionDriver> driver_;
};

}  // namespace starling::db
