#include "db/schema/copy.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "db/postgres/open.h"
#include "db/schema/migrate.h"
#include "db/sqlite/open.h"
#include "tests/support/postgres_server.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::db;
using starling::testing::PostgresServer;
using starling::testing::TempDir;

namespace {

// Rows that are hard to copy: two people and a team that refer to each other; a ledger with more lines than are fetched
// at a time, one of them taken back and some not final; checks of work; the number of a ban that was deleted; NULL,
// empty texts and fractions.
constexpr const char* kProject =
    "INSERT INTO account (display_name, created_ms) VALUES ('Ada', 1), ('Bob ''the'' \"bit\" \\ Ørsted', 2);"
    "INSERT INTO team (name, founder_id, created_ms) VALUES ('Poets', 2, 3);"
    "UPDATE account SET team_id = 1 WHERE id = 1;"
    "INSERT INTO host (peer_id, account_id, created_ms, last_seen_ms) VALUES (zeroblob(32), 1, 1, 1);"
    "INSERT INTO run (run_id, manifest_envelope, state, created_ms, final_below) VALUES ('r', '', 'running', 1, 9000);"
    "INSERT INTO contribution (run, round, host, account_id, samples, credit, at_ms, team_id) "
    "  WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9999) "
    "  SELECT 1, i, 1, 1, 8, 16000 + i, 1000 * i, 1 FROM n;"
    "INSERT INTO correction (at_ms, reason) VALUES (9, 'a mistake');"
    "INSERT INTO contribution (run, round, host, account_id, samples, credit, at_ms, team_id, reverses) "
    "  SELECT run, round, host, account_id, -samples, -credit, at_ms, team_id, id FROM contribution WHERE id = 7;"
    "INSERT INTO reversal (contribution, correction) SELECT max(id), 1 FROM contribution;"
    "INSERT INTO evaluation (run_id, round, peer_id, bits_per_byte, loss, bytes, at_ms) "
    "  VALUES ('r', 1, zeroblob(32), 0.1, 1e-300, 5, 6);"
    "INSERT INTO ban (kind, subject, reason, created_ms, expires_ms) VALUES ('user', 'Eve', 'spam', 1, 2);"
    "DELETE FROM ban;"
    "INSERT INTO setting (name, value) VALUES ('motto', '');"
    "INSERT INTO audit (at_ms, who, action, subject, note) VALUES (1, 'op', 'ban', '', '');"
    "UPDATE run SET final_below = 9100;"
    "INSERT INTO work_check (run, round, host, account_id, verdict, auditors, distance, why, at_ms) VALUES "
    "  (1, 3, 1, 1, 1, zeroblob(64), 0.5, 'it sent zeros', 7), (1, 4, 1, 1, 2, zeroblob(0), 0, '', 7);"
    "INSERT INTO checked_host (run, host, clean, missed, unchecked, in_a_row) VALUES (1, 1, 0, 1, 1, 0);"
    "UPDATE standing_window SET head = 5;";

struct Fixture {
  TempDir dir;
  PostgresServer& server = PostgresServer::shared();
  Connection file = open_file(dir / "a.db", {.mode = OpenMode::create}).value();
  Connection postgres = open_server(server.create_database(), ServerRole::writer).value();

  Fixture() {
    REQUIRE(migrate(file).ok());
    REQUIRE(migrate(postgres).ok());
    const Status filled = file.execute(kProject);
    REQUIRE_MESSAGE(filled.ok(), (filled.ok() ? "" : filled.error().message));
  }
  Connection new_file() const {
    Connection made = open_file(dir / "b.db", {.mode = OpenMode::create}).value();
    REQUIRE(migrate(made).ok());
    return made;
  }
};

void require_copied(const Status& copied) { REQUIRE_MESSAGE(copied.ok(), (copied.ok() ? "" : copied.error().message)); }

// Every value of a SQLite file, as SQL would write it, in order.
std::vector<std::string> contents(Connection& file) {
  Statement columns = file.prepare(
                              "SELECT t.name, c.name FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c "
                              "WHERE t.type = 'table' ORDER BY 1, 2")
                          .value();
  std::vector<std::string> values;
  while (columns.step().value()) {
    const std::string column = columns.text(1);
    const std::string table = columns.text(0);
    Statement cells = file.prepare("SELECT quote(" + column + ") FROM " + table + " ORDER BY 1").value();
    while (cells.step().value()) values.push_back(table + "." + column + " = " + cells.text(0));
  }
  return values;
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a database is the same after a journey to a server and back") {
  require_copied(copy_contents(file, postgres));
  CHECK(postgres.query_int("SELECT samples FROM tally_run WHERE kind = 0").value() == 8 * 9999);
  Connection back = new_file();
  require_copied(copy_contents(postgres, back));
  CHECK(contents(back) == contents(file));
  CHECK(back.query_int("SELECT count(*) FROM pragma_foreign_key_check").value() == 0);
}

TEST_CASE_FIXTURE(Fixture, "what was copied goes on: numbers, totals and rules") {
  require_copied(copy_contents(file, postgres));
  Connection back = new_file();
  require_copied(copy_contents(postgres, back));
  for (Connection* copy : {&postgres, &back}) {
    CAPTURE(copy->name());
    CHECK(copy->execute("UPDATE contribution SET samples = 9").error().code == ErrorCode::invalid_argument);
    CHECK(copy->execute("INSERT INTO lane (run_id, peer_id, lane, since_ms) SELECT 'none', peer_id, 1, 1 FROM host")
              .error()
              .code == ErrorCode::failed_precondition);
    REQUIRE(copy->execute("INSERT INTO contribution (run, round, host, account_id, samples, credit, at_ms) "
                          "VALUES (1, 10000, 1, 1, 8, 16, 5)")
                .ok());
    CHECK(copy->query_int("SELECT max(id) FROM contribution").value() == 10'002);
    CHECK(copy->query_int("SELECT samples FROM tally_run WHERE kind = 0").value() == 8 * 10'000);
    CHECK(copy->query_int("SELECT samples FROM pending WHERE kind = 0").value() == 8 * 901);
    REQUIRE(copy->execute("UPDATE run SET final_below = 10001 WHERE run_id = 'r'").ok());
    CHECK(copy->query_int("SELECT count(*) FROM pending").value() == 0);
    CHECK(copy->execute("UPDATE run SET final_below = 3").error().code == ErrorCode::invalid_argument);
    REQUIRE(copy->execute("INSERT INTO ban (kind, subject, reason, created_ms, expires_ms) "
                          "VALUES ('user', 'Eve', 'spam', 1, 2)")
                .ok());
    CHECK(copy->query_int("SELECT id FROM ban").value() == 2);
    REQUIRE(copy->execute("INSERT INTO run (run_id, manifest_envelope, state, created_ms) "
                          "VALUES ('s', '', 'running', 1)")
                .ok());
    CHECK(copy->query_int("SELECT number FROM run WHERE run_id = 's'").value() == 2);
  }
}

TEST_CASE_FIXTURE(Fixture, "a database that holds anything is left as it is") {
  REQUIRE(postgres.execute("INSERT INTO setting (name, value) VALUES ('motto', 'ours')").ok());
  CHECK(copy_contents(file, postgres).error().code == ErrorCode::already_exists);
  CHECK(postgres.query_int("SELECT count(*) FROM account").value() == 0);
  REQUIRE(postgres.execute("DELETE FROM setting").ok());
  require_copied(copy_contents(file, postgres));
}

TEST_CASE_FIXTURE(Fixture, "a copy that fails half-way leaves nothing, and the rules in force") {
  // A server cannot store this in a text.
  REQUIRE(file.execute("UPDATE setting SET value = 'a' || char(0) || 'b'").ok());
  CHECK(copy_contents(file, postgres).error().code == ErrorCode::invalid_argument);
  CHECK(postgres.query_int("SELECT count(*) FROM account").value() == 0);
  CHECK(postgres
            .execute("INSERT INTO lane (run_id, peer_id, lane, since_ms) VALUES "
                     "('none', decode(repeat('00', 32), 'hex'), 1, 1)")
            .error()
            .code == ErrorCode::failed_precondition);
  REQUIRE(file.execute("UPDATE setting SET value = 'ab'").ok());
  require_copied(copy_contents(file, postgres));
}

TEST_CASE_FIXTURE(Fixture, "databases of different schemas are not mixed") {
  REQUIRE(postgres.execute("INSERT INTO schema_version (version, name) VALUES (9999, 'of later')").ok());
  CHECK(copy_contents(file, postgres).error().code == ErrorCode::failed_precondition);
}
