#include <doctest/doctest.h>

#include <future>
#include <string>

#include "db/postgres/open.h"
#include "db/sql/transaction.h"
#include "tests/support/postgres_server.h"

using namespace starling;
using namespace starling::db;
using starling::testing::PostgresServer;

namespace {

struct Fixture {
  PostgresServer& server = PostgresServer::shared();
  std::string url = server.create_database();
  Connection connection = connect();

  [[nodiscard]] Connection connect(ServerRole role = ServerRole::writer) const {
    Result<Connection> opened = open_server(url, role);
    REQUIRE_MESSAGE(opened.ok(), (opened.ok() ? "" : opened.error().message));
    return std::move(opened).value();
  }
  void make_table() {
    REQUIRE(connection.execute("CREATE TABLE t (k bigint PRIMARY KEY, v text UNIQUE CHECK (v <> 'no'))").ok());
  }
  Status insert(std::int64_t k, const std::string& v) {
    STARLING_ASSIGN(Statement statement, connection.prepare("INSERT INTO t (k, v) VALUES (?, ?)"));
    return statement.bind(k, v).run();
  }
  std::int64_t rows() { return connection.query_int("SELECT count(*) FROM t").value(); }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "values come back as they were bound") {
  PeerId id;
  id.bytes.fill(0xab);
  Statement statement =
      connection
          .prepare(
              "SELECT CAST(? AS bigint), CAST(? AS double precision), CAST(? AS text), CAST(? AS bytea), "
              "CAST(? AS text), 1 = 1, CAST(NULL AS bigint)")
          .value();
  REQUIRE(statement.bind(std::int64_t{-5}, 0.1, "ä'b\\\n", id, "").step().value());
  CHECK(statement.integer(0) == -5);
  CHECK(statement.real(1) == 0.1);
  CHECK(statement.text(2) == "ä'b\\\n");
  PeerId read;
  CHECK(statement.read_id(3, read).ok());
  CHECK(read == id);
  CHECK(statement.text(4).empty());
  CHECK(statement.integer(5) == 1);
  CHECK(statement.integer(6) == 0);
  GroupId too_short;
  CHECK(statement.read_id(3, too_short).error().code == ErrorCode::corrupt);
  CHECK_FALSE(statement.step().value());
}

TEST_CASE_FIXTURE(Fixture,
                  "a database that does not keep text in UTF-8 is refused, and how to make one that does is said") {
  REQUIRE(connection.execute("CREATE DATABASE ascii TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C'").ok());
  const Error refusal = open_server(server.url("ascii"), ServerRole::reader).error();
  CHECK(refusal.code == ErrorCode::unsupported);
  CHECK(refusal.message.find("/ascii' keeps text in SQL_ASCII") != std::string::npos);
  CHECK(refusal.message.find("createdb --template template0 --encoding UTF8") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "errors name the database, the statement and PostgreSQL's reason") {
  make_table();
  REQUIRE(insert(1, "x").ok());
  const Error twice = insert(2, "x").error();
  CHECK(twice.code == ErrorCode::already_exists);
  CHECK(twice.message.find(public_address(url).value()) != std::string::npos);
  CHECK(twice.message.find("INSERT INTO t") != std::string::npos);
  CHECK(twice.message.find("t_v_key") != std::string::npos);
  CHECK(insert(3, "no").error().code == ErrorCode::invalid_argument);
  CHECK(insert(3, std::string("a\0b", 3)).error().code == ErrorCode::invalid_argument);
  CHECK(insert(3, "\xff").error().code == ErrorCode::invalid_argument);
  CHECK(connection.prepare("SELEC").error().code == ErrorCode::internal);
  CHECK(connection.prepare("SELECT CAST(? AS text)")->bind(1, 2).step().error().code == ErrorCode::internal);
  CHECK(rows() == 1);
}

TEST_CASE_FIXTURE(Fixture, "what is not committed leaves nothing, and a savepoint undoes its own part only") {
  make_table();
  {
    const Transaction lost = Transaction::begin(connection, TransactionKind::write).value();
    REQUIRE(insert(1, "x").ok());
    CHECK(connection.in_transaction());
  }
  CHECK_FALSE(connection.in_transaction());
  CHECK(rows() == 0);
  Transaction transaction = Transaction::begin(connection, TransactionKind::write).value();
  Savepoint kept = Savepoint::begin(connection).value();
  REQUIRE(insert(1, "x").ok());
  CHECK(connection.changes() == 1);
  REQUIRE(kept.release().ok());
  Savepoint undone = Savepoint::begin(connection).value();
  CHECK_FALSE(insert(1, "y").ok());
  REQUIRE(undone.undo().ok());
  REQUIRE(transaction.commit().ok());
  CHECK(rows() == 1);
}

TEST_CASE_FIXTURE(Fixture, "a transaction in which a statement failed is no success when it ends") {
  make_table();
  Transaction transaction = Transaction::begin(connection, TransactionKind::write).value();
  REQUIRE(insert(1, "x").ok());
  CHECK_FALSE(insert(1, "y").ok());
  CHECK_FALSE(transaction.commit().ok());
}

TEST_CASE_FIXTURE(Fixture, "a reader sees one moment and can not write") {
  make_table();
  Connection reader = connect(ServerRole::reader);
  const auto count = [&] { return reader.query_int("SELECT count(*) FROM t").value(); };
  {
    const Transaction moment = Transaction::begin(reader, TransactionKind::read).value();
    CHECK(count() == 0);
    REQUIRE(insert(1, "x").ok());
    CHECK(count() == 0);
  }
  CHECK(count() == 1);
  CHECK(reader.execute("DELETE FROM t").error().code == ErrorCode::permission_denied);
}

TEST_CASE_FIXTURE(Fixture, "one process writes at a time, and the next when that one is gone") {
  make_table();
  {
    Connection first = connect();
    const Transaction writing = Transaction::begin(first, TransactionKind::write).value();
    REQUIRE(connection.execute("SET lock_timeout = '10ms'").ok());
    CHECK(Transaction::begin(connection, TransactionKind::write).error().code == ErrorCode::unavailable);
    CHECK_FALSE(connection.in_transaction());
  }
  CHECK(Transaction::begin(connection, TransactionKind::write).ok());
}

TEST_CASE_FIXTURE(Fixture, "one session leads, until it ends or falls silent") {
  {
    Connection first = connect();
    CHECK(take_leader_lock(first).value());
    CHECK_FALSE(take_leader_lock(connection).value());
  }
  Connection next = connect();
  // A session ends a moment after its socket is closed.
  while (!take_leader_lock(next).value()) continue;
  REQUIRE(next.execute("SET idle_session_timeout = 50").ok());
  while (next.usable()) continue;
  while (!take_leader_lock(connection).value()) continue;
}

TEST_CASE_FIXTURE(Fixture, "the server says what became of a transaction") {
  make_table();
  Connection other = connect();
  std::int64_t number = 0;
  std::future<Result<bool>> asked;
  {
    Transaction transaction = Transaction::begin(connection, TransactionKind::write).value();
    CHECK(transaction_number(connection).value() == 0);
    REQUIRE(insert(1, "x").ok());
    number = transaction_number(connection).value();
    REQUIRE(number != 0);
    asked = std::async(std::launch::async, [&] { return was_committed(other, number); });
    REQUIRE(transaction.commit().ok());
  }
  CHECK(asked.get().value());
  {
    const Transaction lost = Transaction::begin(connection, TransactionKind::write).value();
    REQUIRE(insert(2, "y").ok());
    number = transaction_number(connection).value();
  }
  CHECK_FALSE(was_committed(other, number).value());
}

TEST_CASE_FIXTURE(Fixture, "a server that is gone is noticed, named, and can be connected to when it is back") {
  make_table();
  server.kill();
  while (connection.usable()) continue;  // the server sends a farewell before it hangs up
  CHECK(connection.query_int("SELECT count(*) FROM t").error().code == ErrorCode::unavailable);
  CHECK(open_server(url, ServerRole::reader).error().code == ErrorCode::unavailable);
  server.start();
  connection = connect();
  CHECK(connection.usable());
  CHECK(rows() == 0);
}

TEST_CASE_FIXTURE(Fixture, "what can not be opened says why, and never the password") {
  CHECK(open_server(server.url("nowhere"), ServerRole::reader).error().code == ErrorCode::not_found);
  CHECK(open_server("coordinator.db", ServerRole::reader).error().code == ErrorCode::invalid_argument);
  CHECK(public_address("postgresql://ada:secret@db.example.org:5433/starling?sslmode=require").value() ==
        "postgresql://ada@db.example.org:5433/starling");
  for (const char* url : {"postgresql://ada:secret@127.0.0.1:1/starling", "postgresql://ada:secret@[bad/starling",
                          "postgres://u:secret@h/d?nonsense=1"}) {
    const Error error = open_server(url, ServerRole::reader).error();
    CAPTURE(error.message);
    CHECK(error.message.find("secret") == std::string::npos);
  }
}
