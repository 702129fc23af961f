#include "db/schema/migrate.h"

#include <doctest/doctest.h>

#include <vector>

#include "db/sqlite/open.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::db;
using starling::testing::TempDir;

namespace {

Connection create(const std::filesystem::path& file) { return open_file(file, {.mode = OpenMode::create}).value(); }

std::int64_t version(Connection& connection) {
  return connection.query_int("SELECT max(version) FROM schema_version").value();
}

const Migration kFirst{1, "first", "CREATE TABLE a (x INTEGER) STRICT"};
const Migration kSecond{2, "second", "ALTER TABLE a ADD COLUMN y INTEGER"};
const Migration kBroken{2, "broken", "CREATE TABLE b (x INTEGER) STRICT; INSERT INTO nowhere VALUES (1)"};

}  // namespace

TEST_CASE("the migrations of this program are numbered without gaps and apply to an empty file") {
  TempDir dir;
  Connection connection = create(dir / "a.db");
  REQUIRE(migrate(connection).ok());
  int expected = 0;
  for (const Migration& migration : sqlite_migrations()) CHECK(migration.version == ++expected);
  CHECK(version(connection) == expected);
  CHECK(connection.query_int("SELECT count(*) FROM contribution").value() == 0);
}

TEST_CASE("migrating twice changes nothing") {
  TempDir dir;
  Connection connection = create(dir / "a.db");
  REQUIRE(migrate(connection).ok());
  REQUIRE(connection.execute("INSERT INTO account (display_name, created_ms) VALUES ('Ada', 1)").ok());
  REQUIRE(migrate(connection).ok());
  CHECK(connection.query_int("SELECT count(*) FROM account").value() == 1);
}

TEST_CASE("only what is missing is applied") {
  TempDir dir;
  Connection connection = create(dir / "a.db");
  REQUIRE(migrate(connection, std::vector{kFirst}).ok());
  REQUIRE(connection.execute("INSERT INTO a VALUES (1)").ok());
  REQUIRE(migrate(connection, std::vector{kFirst, kSecond}).ok());
  CHECK(connection.query_int("SELECT count(*) FROM a WHERE y IS NULL").value() == 1);
}

TEST_CASE("a migration that fails leaves nothing behind and names itself") {
  TempDir dir;
  Connection connection = create(dir / "a.db");
  const Error error = migrate(connection, std::vector{kFirst, kBroken}).error();
  CHECK(error.message.find("migration 2 (broken)") != std::string::npos);
  CHECK(version(connection) == 1);
  CHECK(connection.query_int("SELECT count(*) FROM sqlite_schema WHERE name = 'b'").value() == 0);
  CHECK(migrate(connection, std::vector{kFirst, kSecond}).ok());
}

TEST_CASE("a database of a newer program is refused and left alone") {
  TempDir dir;
  Connection connection = create(dir / "a.db");
  REQUIRE(migrate(connection, std::vector{kFirst, kSecond}).ok());
  const Error error = migrate(connection, std::vector{kFirst}).error();
  CHECK(error.code == ErrorCode::unsupported);
  CHECK(error.message.find("schema 2") != std::string::npos);
  CHECK(error.message.find("up to 1") != std::string::npos);
  CHECK(version(connection) == 2);
}

TEST_CASE("somebody else's database is refused and left alone") {
  TempDir dir;
  Connection connection = create(dir / "a.db");
  REQUIRE(connection.execute("CREATE TABLE recipes (name TEXT)").ok());
  CHECK(migrate(connection).error().code == ErrorCode::corrupt);
  CHECK(connection.query_int("SELECT count(*) FROM sqlite_schema").value() == 1);
}

TEST_CASE("the ledger can not be changed, by anybody") {
  TempDir dir;
  Connection connection = create(dir / "a.db");
  REQUIRE(migrate(connection).ok());
  REQUIRE(
      connection
          .execute("INSERT INTO account (id, display_name, created_ms) VALUES (1, 'Ada', 1);"
                   "INSERT INTO host (peer_id, account_id, created_ms, last_seen_ms) VALUES (zeroblob(32), 1, 1, 1);"
                   "INSERT INTO run (run_id, manifest_envelope, state, created_ms) VALUES ('r', '', 'running', 1);"
                   "INSERT INTO contribution (run, round, host, account_id, samples, credit, at_ms) "
                   "VALUES (1, 0, 1, 1, 8, 16, 5)")
          .ok());
  for (const char* change : {"UPDATE contribution SET samples = 9", "DELETE FROM contribution",
                             "INSERT OR REPLACE INTO contribution (id, run, round, host, account_id, samples, "
                             "credit, at_ms) VALUES (1, 1, 0, 1, 1, 9, 16, 5)"}) {
    CAPTURE(change);
    CHECK_FALSE(connection.execute(change).ok());
  }
  CHECK(connection.query_int("SELECT samples FROM contribution").value() == 8);
  CHECK(connection.query_int("SELECT samples FROM tally_run WHERE kind = 0").value() == 8);
  CHECK(connection.query_int("SELECT credit FROM tally WHERE kind = 0").value() == 16);
  CHECK(connection.query_int("SELECT volunteers FROM run").value() == 1);
}

TEST_CASE("a reversal takes one line back as a whole, once, and nothing else") {
  TempDir dir;
  Connection connection = create(dir / "a.db");
  REQUIRE(migrate(connection).ok());
  REQUIRE(
      connection
          .execute("INSERT INTO account (id, display_name, created_ms) VALUES (1, 'Ada', 1);"
                   "INSERT INTO host (peer_id, account_id, created_ms, last_seen_ms) VALUES (zeroblob(32), 1, 1, 1);"
                   "INSERT INTO run (run_id, manifest_envelope, state, created_ms) VALUES ('r', '', 'running', 1);"
                   "INSERT INTO contribution (run, round, host, account_id, samples, credit, at_ms) "
                   "VALUES (1, 0, 1, 1, 8, 16, 5)")
          .ok());
  const auto insert = [&](const std::string& values) {
    return connection.execute(
        "INSERT INTO contribution (run, round, host, account_id, samples, credit, at_ms, "
        "reverses) VALUES " +
        values);
  };
  CHECK_FALSE(insert("(1, 1, 1, 1, -8, -16, 5, NULL)").ok());  // a negative line that reverses nothing
  CHECK_FALSE(insert("(1, 0, 1, 1, -7, -16, 5, 1)").ok());     // reverses part of a line
  CHECK_FALSE(insert("(1, 0, 1, 1, -8, -16, 5, 9)").ok());     // reverses a line that does not exist
  CHECK_FALSE(insert("(1, 3, 1, 1, -8, -16, 5, 1)").ok());     // reverses a line of another round
  REQUIRE(insert("(1, 0, 1, 1, -8, -16, 5, 1)").ok());
  CHECK_FALSE(insert("(1, 0, 1, 1, -8, -16, 5, 1)").ok());  // a second reversal of the line
  CHECK_FALSE(insert("(1, 0, 1, 1, 8, 16, 5, 2)").ok());    // a reversal cannot be reversed
  CHECK(connection.query_int("SELECT sum(samples) + sum(credit) FROM contribution").value() == 0);
  CHECK(connection.query_int("SELECT samples + credit FROM tally WHERE kind = 0").value() == 0);
  CHECK(connection.query_int("SELECT samples + credit FROM run").value() == 0);
}

TEST_CASE("a database of the first schema keeps its hosts, its ledger and its totals") {
  TempDir dir;
  Connection connection = create(dir / "a.db");
  REQUIRE(migrate(connection, sqlite_migrations().first(1)).ok());
  REQUIRE(connection
              .execute("INSERT INTO account (id, display_name, created_ms) VALUES (1, 'Ada', 0), (2, 'Ben', 0);"
                       "INSERT INTO host (peer_id, account_id, created_ms, last_seen_ms, revoked) VALUES "
                       "(zeroblob(32), 1, 2, 7, 0), (randomblob(32), 2, 1, 8, 1);"
                       "INSERT INTO run (run_id, manifest_envelope, state, created_ms, round) VALUES "
                       "('b', '', 'running', 1, 3), ('a', '', 'paused', 2, 5);"
                       "INSERT INTO contribution (run_id, round, peer_id, account_id, samples, credit, at_ms) "
                       "SELECT run_id, 0, peer_id, account_id, 10 * account_id, 1000000 * account_id, 86400000 "
                       "FROM run JOIN host;"
                       "INSERT INTO contribution (run_id, round, peer_id, account_id, samples, credit, at_ms) "
                       "VALUES ('a', 4, zeroblob(32), 1, 5, 7, 86400000)")
              .ok());
  const std::int64_t before =
      connection.query_int("SELECT sum(samples * 1000003 + credit * account_id) FROM volunteer_total").value();
  const Status migrated = migrate(connection);
  REQUIRE_MESSAGE(migrated.ok(), (migrated.ok() ? "" : migrated.error().message));
  CHECK(connection.query_int("SELECT sum(samples * 1000003 + credit * holder) FROM tally_run WHERE kind = 0").value() ==
        before);
  CHECK(connection
            .query_int("SELECT count(*) FROM contribution JOIN host ON host.id = host AND "
                       "host.account_id = contribution.account_id")
            .value() == 5);
  CHECK(connection.query_int("SELECT samples FROM run WHERE run_id = 'a'").value() == 35);
  CHECK(connection.query_int("SELECT volunteers FROM run WHERE run_id = 'b'").value() == 2);
  CHECK(connection.query_int("SELECT revoked FROM host WHERE account_id = 2").value() == 1);
  // 4 credits in the first day: 4 (1 - 2^(-1/7)); two grants at one instant.
  const std::int64_t recent =
      connection.query_int("SELECT round(recent * 1e6) FROM tally WHERE kind = 0 AND holder = 2").value();
  CHECK(recent == doctest::Approx(2e6 * 0.094276 + 2e6 * 0.0990210).epsilon(1e-5));
  CHECK(connection.query_int("SELECT count(*) FROM pragma_foreign_key_check").value() == 0);
}
