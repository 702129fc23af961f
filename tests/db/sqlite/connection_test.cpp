#include "db/sqlite/open.h"

#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "db/sql/transaction.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::db;
using starling::testing::TempDir;

namespace {

Connection create(const std::filesystem::path& file) {
  Result<Connection> opened = open_file(file, {.mode = OpenMode::create});
  REQUIRE_MESSAGE(opened.ok(), opened.error().message);
  return std::move(opened).value();
}

Connection create_with_table(const std::filesystem::path& file) {
  Connection connection = create(file);
  REQUIRE(connection.execute("CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT UNIQUE CHECK (v <> 'no')) STRICT").ok());
  return connection;
}

Status insert(Connection& connection, std::int64_t k, const std::string& v) {
  STARLING_ASSIGN(Statement statement, connection.prepare("INSERT INTO t (k, v) VALUES (?, ?)"));
  return statement.bind(k, v).run();
}

std::int64_t rows(Connection& connection) { return connection.query_int("SELECT count(*) FROM t").value(); }

}  // namespace

TEST_CASE("a connection is durable and checks foreign keys") {
  TempDir dir;
  Connection connection = create(dir / "a.db");
  CHECK(connection.query_int("PRAGMA synchronous").value() == 2);
  CHECK(connection.query_int("PRAGMA foreign_keys").value() == 1);
  CHECK(connection.query_int("PRAGMA wal_autocheckpoint").value() == 0);
  CHECK(connection.query_int("SELECT journal_mode = 'wal' FROM pragma_journal_mode").value() == 1);
}

TEST_CASE("values come back as they were bound") {
  TempDir dir;
  Connection connection = create(dir / "a.db");
  PeerId id;
  id.bytes.fill(0xab);
  Statement statement = connection.prepare("SELECT ?, ?, ?, ?, ?").value();
  REQUIRE(statement.bind(std::int64_t{-5}, 0.25, std::string("a\0b", 3), id, "").step().value());
  CHECK(statement.integer(0) == -5);
  CHECK(statement.real(1) == 0.25);
  CHECK(statement.text(2) == std::string("a\0b", 3));
  PeerId read;
  CHECK(statement.read_id(3, read).ok());
  CHECK(read == id);
  CHECK(statement.text(4).empty());
  GroupId too_short;
  CHECK(statement.read_id(3, too_short).error().code == ErrorCode::corrupt);
}

TEST_CASE("errors name the file, the statement and SQLite's reason") {
  TempDir dir;
  Connection connection = create_with_table(dir / "a.db");
  REQUIRE(insert(connection, 1, "x").ok());
  const Error twice = insert(connection, 2, "x").error();
  CHECK(twice.code == ErrorCode::already_exists);
  CHECK(twice.message.find("a.db") != std::string::npos);
  CHECK(twice.message.find("INSERT INTO t") != std::string::npos);
  CHECK(twice.message.find("UNIQUE constraint failed: t.v") != std::string::npos);
  CHECK(insert(connection, 3, "no").error().code == ErrorCode::invalid_argument);
  CHECK(connection.prepare("SELEC").error().code == ErrorCode::internal);
  CHECK(rows(connection) == 1);
}

TEST_CASE("too many bound values are an error, not a crash") {
  TempDir dir;
  Connection connection = create(dir / "a.db");
  Statement statement = connection.prepare("SELECT ?").value();
  CHECK(statement.bind(1, 2).step().error().code == ErrorCode::internal);
}

TEST_CASE("a transaction that is not committed leaves nothing") {
  TempDir dir;
  Connection connection = create_with_table(dir / "a.db");
  {
    Transaction transaction = Transaction::begin(connection, TransactionKind::write).value();
    REQUIRE(insert(connection, 1, "x").ok());
    CHECK(connection.in_transaction());
  }
  CHECK_FALSE(connection.in_transaction());
  CHECK(rows(connection) == 0);
}

TEST_CASE("a savepoint undoes its own part only") {
  TempDir dir;
  Connection connection = create_with_table(dir / "a.db");
  Transaction transaction = Transaction::begin(connection, TransactionKind::write).value();
  {
    Savepoint kept = Savepoint::begin(connection).value();
    REQUIRE(insert(connection, 1, "x").ok());
    REQUIRE(kept.release().ok());
  }
  {
    Savepoint lost = Savepoint::begin(connection).value();
    REQUIRE(insert(connection, 2, "y").ok());
  }
  REQUIRE(transaction.commit().ok());
  CHECK(rows(connection) == 1);
}

TEST_CASE("a reader sees the last commit and can not write") {
  TempDir dir;
  Connection writer = create_with_table(dir / "a.db");
  Connection reader = open_file(dir / "a.db", {.mode = OpenMode::read_only}).value();
  CHECK(rows(reader) == 0);
  REQUIRE(insert(writer, 1, "x").ok());
  CHECK(rows(reader) == 1);
  CHECK(insert(reader, 2, "y").error().code == ErrorCode::permission_denied);
}

TEST_CASE("a reader that still needs the log keeps it from being emptied, at once and without harm") {
  TempDir dir;
  Connection writer = create_with_table(dir / "a.db");
  Connection reader = open_file(dir / "a.db", {.mode = OpenMode::read_only}).value();
  {
    Transaction view = Transaction::begin(reader, TransactionKind::read).value();
    CHECK(rows(reader) == 0);
    REQUIRE(insert(writer, 1, "x").ok());
    CHECK(checkpoint(writer, true).error().code == ErrorCode::unavailable);
    CHECK(rows(reader) == 0);
  }
  REQUIRE(checkpoint(writer, true).ok());
  CHECK(std::filesystem::file_size(dir / "a.db-wal") == 0);
  CHECK(rows(reader) == 1);
}

TEST_CASE("a second writer waits its time and is told that it is locked") {
  TempDir dir;
  Connection first = create_with_table(dir / "a.db");
  Connection second = open_file(dir / "a.db", {.mode = OpenMode::read_write, .busy_timeout = from_ms(1)}).value();
  Transaction transaction = Transaction::begin(first, TransactionKind::write).value();
  CHECK(Transaction::begin(second, TransactionKind::write).error().code == ErrorCode::unavailable);
}

TEST_CASE("opening says what is wrong with the file") {
  TempDir dir;
  CHECK(open_file(dir / "none.db", {}).error().code == ErrorCode::not_found);
  std::ofstream(dir / "text.db") << std::string(5000, 'x');
  const Error error = open_file(dir / "text.db", {.mode = OpenMode::read_write}).error();
  CHECK(error.code == ErrorCode::corrupt);
  CHECK(error.message.find("text.db") != std::string::npos);
  CHECK(std::filesystem::file_size(dir / "text.db") == 5000);
}

TEST_CASE("a cached statement forgets what was bound before") {
  TempDir dir;
  Connection connection = create(dir / "a.db");
  {
    Statement statement = connection.prepare("SELECT ?").value();
    REQUIRE(statement.bind(7).step().value());
  }
  Statement statement = connection.prepare("SELECT ?").value();
  REQUIRE(statement.step().value());
  CHECK(statement.text(0).empty());
}
