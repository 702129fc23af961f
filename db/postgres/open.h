// Connections to a database on a PostgreSQL server, 14 or newer. Only this folder includes libpqxx and libpq.
//
// One process writes at a time, as with SQLite: a write transaction begins with an advisory lock that ends with it, so
// a store's reads inside the transaction stay valid until its end.
#pragma once

#include <cstdint>
#include <string>

#include "db/sql/connection.h"
#include "shared/base/clock.h"
#include "shared/base/result.h"

namespace starling::db {

enum class ServerRole : std::uint8_t {
  reader,  // may not write
  writer,  // loses its transaction if it falls silent in it, so that others can write
};

// `url` is "postgresql://user@host:5432/name?sslmode=verify-full", as libpq documents it; the password is best kept in
// the file that `passfile` or ~/.pgpass names. Errors: invalid_argument: not such an address · unavailable: no server
// answers there, or not now · permission_denied: the server rejects this user · not_found: it has no such database ·
// unsupported: it is too old, or the database stores text in an encoding other than UTF-8.
Result<Connection> open_server(const std::string& url, ServerRole role);

// The address for errors and for people: "postgresql://user@host:5432/name", without password and options.
Result<std::string> public_address(const std::string& url);

// The number of the transaction under way, for was_committed(); 0 until it has written something.
Result<std::int64_t> transaction_number(Connection& connection);
// The outcome of a write transaction whose connection broke. Call it on another connection, outside a transaction; it
// waits for the end of the transaction in question, as every write transaction does.
Result<bool> was_committed(Connection& connection, std::int64_t transaction_number);

// Makes this session the only one that holds the leader's lock, until it ends; false: another session has it.
Result<bool> take_leader_lock(Connection& connection);
// The server ends this session if it receives nothing from it for this time.
constexpr Duration kLeaderSilenceMax = std::chrono::seconds(3);
Status limit_silence(Connection& connection);

}  // namespace starling::db
