// Connections to a database on a PostgreSQL server, 14 or newer. Only this folder sees libpqxx and libpq.
//
// One process writes at a time, as with SQLite: a write transaction begins with an advisory lock that ends with it, so
// what a store reads inside one stays true until its end.
#pragma once

#include <cstdint>
#include <string>

#include "db/sql/connection.h"
#include "shared/base/clock.h"
#include "shared/base/result.h"

namespace starling::db {

enum class ServerRole : std::uint8_t {
  reader,  // may not write
  writer,  // lets go of its transaction when it falls silent in it, so that others can write
};

// "postgresql://user@host:5432/name?sslmode=verify-full", as libpq documents it; the password is best kept in the file
// that `passfile` or ~/.pgpass names.
// invalid_argument: not such an address · unavailable: nobody answers there, or not now · permission_denied: the server
// does not let this user in · not_found: it has no such database · unsupported: it is too old, or
// the database keeps text in another encoding than UTF-8.
Result<Connection> open_server(const std::string& url, ServerRole role);

// As errors and people are told: "postgresql://user@host:5432/name", without password and options.
Result<std::string> public_address(const std::string& url);

// The number of the transaction under way, once it has written anything; 0: it has not. For was_committed().
Result<std::int64_t> transaction_number(Connection& connection);
// What became of a write transaction whose connection broke. Asked on another connection, outside a transaction; waits
// for the end of the one asked about, as every write transaction does.
Result<bool> was_committed(Connection& connection, std::int64_t transaction_number);

// Makes this session the only one that holds the leader's lock, until it ends; false: another session has it.
Result<bool> take_leader_lock(Connection& connection);
// The server ends this session when it has heard nothing from it for so long.
constexpr Duration kLeaderSilenceMax = std::chrono::seconds(3);
Status limit_silence(Connection& connection);

}  // namespace starling::db
