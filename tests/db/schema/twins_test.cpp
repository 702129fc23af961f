// Compares the schemas of SQLite and PostgreSQL.
#include <doctest/doctest.h>

#include <map>
#include <string>

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

struct Both {
  TempDir dir;
  PostgresServer& server = PostgresServer::shared();
  Connection sqlite = open_file(dir / "a.db", {.mode = OpenMode::create}).value();
  Connection postgres = open_server(server.create_database(), ServerRole::writer).value();

  Both() {
    for (Connection* connection : {&sqlite, &postgres}) {
      const Status migrated = migrate(*connection);
      REQUIRE_MESSAGE(migrated.ok(), (migrated.ok() ? "" : migrated.error().message));
    }
  }
};

// The first two columns of each row, as a map.
std::map<std::string, std::string> read(Connection& connection, std::string_view sql) {
  Statement statement = connection.prepare(sql).value();
  std::map<std::string, std::string> rows;
  while (statement.step().value()) rows[statement.text(0)] += statement.text(1) + ";";
  return rows;
}

}  // namespace

TEST_CASE("SQLite and PostgreSQL have the same tables, columns, kinds of values and keys") {
  Both both;
  CHECK(sqlite_migrations().back().version == postgres_migrations().back().version);
  CHECK(std::string(sqlite_migrations().back().name) == postgres_migrations().back().name);
  const auto sqlite = read(
      both.sqlite,
      "SELECT t.name || '.' || c.name, CASE c.type WHEN 'INTEGER' THEN 'bigint' WHEN 'REAL' THEN 'double precision' "
      "WHEN 'BLOB' THEN 'bytea' ELSE 'text' END || CASE WHEN c.\"notnull\" OR c.pk THEN ' always' ELSE '' END || "
      "CASE WHEN c.pk THEN ' key ' || c.pk ELSE '' END "
      "FROM sqlite_schema AS t JOIN pragma_table_xinfo(t.name) AS c "
      "WHERE t.type = 'table' AND t.name NOT IN ('schema_version', 'sqlite_sequence')");
  const auto postgres = read(
      both.postgres,
      "SELECT c.table_name || '.' || c.column_name, CASE c.udt_name WHEN 'citext' THEN 'text' ELSE c.data_type END || "
      "CASE WHEN c.is_nullable = 'NO' THEN ' always' ELSE '' END || coalesce(' key ' || k.ordinal_position, '') "
      "FROM information_schema.columns AS c JOIN information_schema.tables AS t ON t.table_name = c.table_name "
      "AND t.table_schema = c.table_schema AND t.table_type = 'BASE TABLE' LEFT JOIN "
      "(SELECT u.table_name, u.column_name, u.ordinal_position FROM information_schema.key_column_usage AS u "
      "JOIN information_schema.table_constraints AS p ON p.constraint_name = u.constraint_name "
      "AND p.constraint_type = 'PRIMARY KEY') AS k ON k.table_name = c.table_name AND k.column_name = c.column_name "
      "WHERE c.table_schema = current_schema() AND c.table_name <> 'schema_version'");
  for (const auto& column : sqlite) {
    CAPTURE(column.first);
    REQUIRE(postgres.contains(column.first));
    CHECK(postgres.at(column.first) == column.second);
  }
  for (const auto& column : postgres) CHECK_MESSAGE(sqlite.contains(column.first), column.first);
}

TEST_CASE("SQLite and PostgreSQL have the same indexes") {
  Both both;
  const auto sqlite =
      read(both.sqlite, "SELECT name, tbl_name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL");
  const auto postgres =
      read(both.postgres, "SELECT indexname, tablename FROM pg_indexes WHERE schemaname = current_schema()");
  for (const auto& index : sqlite) {
    CAPTURE(index.first);
    if (index.first == "run_by_number") continue;  // a constraint there, so that other tables may refer to it
    REQUIRE(postgres.contains(index.first));
    CHECK(postgres.at(index.first) == index.second);
  }
}

TEST_CASE("the ledger and the audit log on PostgreSQL can not be changed either") {
  Both both;
  REQUIRE(both.postgres
              .execute("INSERT INTO account (display_name, created_ms) VALUES ('Ada', 1);"
                       "INSERT INTO host (peer_id, account_id, created_ms, last_seen_ms) VALUES "
                       "(decode(repeat('00', 32), 'hex'), 1, 1, 1);"
                       "INSERT INTO run (run_id, manifest_envelope, state, created_ms) VALUES ('r', '', 'running', 1);"
                       "INSERT INTO contribution (run, round, host, account_id, samples, credit, at_ms) "
                       "VALUES (1, 0, 1, 1, 8, 16, 5);"
                       "INSERT INTO audit (at_ms, who, action, subject, note) VALUES (1, 'op', 'ban', '', '')")
              .ok());
  for (const char* change :
       {"UPDATE contribution SET samples = 9", "DELETE FROM contribution", "TRUNCATE contribution CASCADE",
        "UPDATE audit SET who = 'nobody'", "DELETE FROM audit", "TRUNCATE audit"}) {
    CAPTURE(change);
    CHECK(both.postgres.execute(change).error().code == ErrorCode::invalid_argument);
  }
  CHECK(both.postgres.query_int("SELECT samples FROM tally_run WHERE kind = 0").value() == 8);
  CHECK(both.postgres.query_int("SELECT volunteers FROM run").value() == 1);
}

TEST_CASE("a database on a server is migrated once, whoever comes first, and no other is touched") {
  PostgresServer& server = PostgresServer::shared();
  const std::string url = server.create_database();
  Connection first = open_server(url, ServerRole::writer).value();
  Connection second = open_server(url, ServerRole::writer).value();
  REQUIRE(migrate(first).ok());
  REQUIRE(migrate(second).ok());
  CHECK(schema_version(second).value() == postgres_migrations().back().version);
  REQUIRE(first.execute("INSERT INTO schema_version (version, name) VALUES (9999, 'of later')").ok());
  CHECK(migrate(second).error().code == ErrorCode::unsupported);
  Connection other = open_server(server.create_database(), ServerRole::writer).value();
  REQUIRE(other.execute("CREATE TABLE recipes (name text)").ok());
  CHECK(migrate(other).error().code == ErrorCode::corrupt);
}
