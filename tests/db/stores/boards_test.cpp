// Checks that a place on a board is looked up in its index, also on a server: without the index, a server would send
// the whole board.
#include "db/stores/boards.h"

#include <doctest/doctest.h>

#include "db/postgres/open.h"
#include "db/schema/migrate.h"
#include "tests/support/postgres_server.h"

using namespace starling;
using namespace starling::db;
using starling::testing::PostgresServer;

namespace {

// 20 000 volunteers with a computer each, in 2000 teams.
constexpr const char* kCrowd =
    "INSERT INTO account (display_name, created_ms, shows_computers) SELECT 'volunteer ' || i, i, 1 FROM "
    "  generate_series(1, 20000) AS i;"
    "INSERT INTO team (name, founder_id, created_ms) SELECT 'team ' || i, i, i FROM generate_series(1, 2000) AS i;"
    "INSERT INTO host (peer_id, account_id, created_ms, last_seen_ms) SELECT decode(lpad(to_hex(i), 64, '0'), 'hex'), "
    "  i, i, i FROM generate_series(1, 20000) AS i;"
    "INSERT INTO run (run_id, manifest_envelope, state, created_ms) VALUES ('r', '', 'running', 1);"
    "INSERT INTO tally (kind, holder, samples, credit, last_ms, recent, recent_ms, shown) SELECT k, i, i % 100, "
    "  i % 1000 + 1, i, i % 5000 + 1, i, 1 FROM generate_series(1, 20000) AS i, unnest(ARRAY[0, 1, 2]) AS k "
    "  WHERE k <> 1 OR i <= 2000;"
    "INSERT INTO tally_run (kind, run, holder, samples, credit, shown) SELECT kind, 1, holder, samples, credit, 1 FROM "
    "  tally;"
    "INSERT INTO tally_window (kind, days, holder, samples, credit, shown) SELECT kind, d, holder, samples, credit, 1 "
    "  FROM tally, unnest(ARRAY[1, 7]) AS d;";

std::string plan_of(Connection& connection, const std::string& sql) {
  Statement explain = connection.prepare("EXPLAIN " + sql).value();
  explain.bind("r", 1234);
  std::string plan;
  for (Result<bool> more = explain.step(); more.value(); more = explain.step()) plan += explain.text(0) + "\n";
  return plan;
}

}  // namespace

TEST_CASE("on a server, too, a place on any board is counted in its index, and is where the board has it") {
  Connection connection = open_server(PostgresServer::shared().create_database(), ServerRole::writer).value();
  REQUIRE(migrate(connection).ok());
  const Status filled = connection.execute(kCrowd);
  REQUIRE_MESSAGE(filled.ok(), (filled.ok() ? "" : filled.error().message));
  REQUIRE(connection.execute("VACUUM ANALYZE").ok());
  for (const Holder of : {Holder::volunteer, Holder::team, Holder::computer}) {
    for (const Board board : {Board::recent, Board::total, Board::run, Board::day, Board::week}) {
      const BoardSql sql = board_sql(of, board);
      const std::string plan = plan_of(connection, rank_sql(sql));
      CAPTURE(plan);
      CHECK(plan.find("Index") != std::string::npos);
      CHECK(plan.find("Seq Scan on tally") == std::string::npos);
      const std::string rows = "SELECT holder FROM " + sql.from + " ORDER BY " + sql.order;
      Statement there = connection.prepare(rows + " LIMIT 1 OFFSET 1233").value();
      REQUIRE(there.bind("r").step().value());
      CHECK(rank_on(connection, sql, "r", there.integer(0)).value() == 1234);
      Statement further = connection.prepare(rows + " LIMIT 1 OFFSET 1499").value();
      REQUIRE(further.bind("r").step().value());
      CHECK(rank_behind(connection, sql, "r", {there.integer(0), 1234}, further.integer(0)).value() == 1500);
    }
  }
  CHECK(rank_on(connection, board_sql(Holder::volunteer, Board::total), "r", 20'001).value() == 0);
}
