// A database of an older version is brought up to date: nobody's credit changes, and what was confirmed stays so.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "db/postgres/open.h"
#include "db/schema/migrate.h"
#include "db/sqlite/open.h"
#include "tests/db/stores/fixture.h"

using namespace starling;
using namespace starling::db;
using namespace starling::db::testing;
using starling::testing::PostgresServer;
using starling::testing::TempDir;

namespace {

constexpr std::int64_t kDay = 86'400'000;
constexpr int kVersionBefore = 14;        // volunteers' sums are apart from the others'
constexpr int kVersionBeforeAudits = 20;  // all credit is final at once
constexpr int kEve = 3;                   // all of her credit was taken back

std::span<const Migration> migrations_to(std::span<const Migration> all, int version) {
  const auto is_later = [version](const Migration& migration) { return migration.version > version; };
  return all.first(static_cast<std::size_t>(std::find_if(all.begin(), all.end(), is_later) - all.begin()));
}

template <typename... Values>
void run(Connection& connection, std::string_view sql, const Values&... values) {
  auto statement = connection.prepare(sql);
  REQUIRE_MESSAGE(statement.ok(), (statement.ok() ? "" : statement.error().message));
  const Status done = statement->bind(values...).run();
  REQUIRE_MESSAGE(done.ok(), (done.ok() ? "" : done.error().message));
}

// All rows of a query, as numbers.
std::vector<std::vector<double>> rows(Connection& connection, std::string_view sql, int columns) {
  auto statement = connection.prepare(sql);
  REQUIRE_MESSAGE(statement.ok(), (statement.ok() ? "" : statement.error().message));
  std::vector<std::vector<double>> rows;
  while (statement->step().value()) {
    std::vector<double>& row = rows.emplace_back();
    for (int i = 0; i < columns; ++i) row.push_back(statement->real(i));
  }
  return rows;
}

// Ada with two computers that she shows, Ben, and Eve; two teams, one of which Ben changes for the other; two runs.
void add_people(Connection& connection) {
  for (int i = 1; i <= 4; ++i) {
    run(connection, "INSERT INTO account (id, display_name, created_ms, shows_computers) VALUES (?, ?, ?, ?)", i,
        std::string("volunteer ") + std::to_string(i), kStart.unix_ms, i == 1 ? 1 : 0);
    run(connection, "INSERT INTO host (id, peer_id, account_id, created_ms, last_seen_ms) VALUES (?, ?, ?, ?, 1)",
        10 + i, peer(static_cast<std::uint8_t>(i)), i == 4 ? 1 : i, kStart.unix_ms + i);
  }
  for (int i = 1; i <= 2; ++i) {
    run(connection, "INSERT INTO team (id, name, founder_id, created_ms) VALUES (?, ?, 1, ?)", i,
        std::string("team ") + std::to_string(i), kStart.unix_ms);
    run(connection,
        "INSERT INTO run (run_id, number, manifest_envelope, state, created_ms) VALUES (?, ?, '', 'running', 1)",
        std::string("run ") + std::to_string(i), i);
  }
}

void add_line(Connection& connection, int round, int account, int host, std::int64_t team) {
  run(connection,
      "INSERT INTO contribution (run, round, host, account_id, samples, credit, at_ms, team_id) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, nullif(CAST(? AS BIGINT), 0))",
      1 + round % 2, round, host, account, 5 + round, 1'000'000 * (account + round), kStart.unix_ms + round * kDay / 3,
      team);
}

// Twenty rounds over a week; Eve's lines are reversed; the windows stand at lines in the middle.
void add_ledger(Connection& connection) {
  for (int round = 0; round < 20; ++round) {
    add_line(connection, round, 1, round % 3 == 0 ? 14 : 11, 1);
    add_line(connection, round, 2, 12, round < 10 ? 1 : 2);
    if (round < 5) add_line(connection, round, kEve, 13, 0);
  }
  run(connection,
      "INSERT INTO contribution (run, round, host, account_id, samples, credit, at_ms, reverses) "
      "SELECT run, round, host, account_id, -samples, -credit, at_ms, id FROM contribution WHERE account_id = ?",
      kEve);
  run(connection, "UPDATE account_total SET recent = 0, recent_ms = ? WHERE account_id = ?", kStart.unix_ms, kEve);
  run(connection, "UPDATE tally SET recent = 0, recent_ms = ? WHERE kind = 2 AND holder = 13", kStart.unix_ms + kEve);
  run(connection, "UPDATE standing_window SET head = 40, tail = CASE days WHEN 1 THEN 30 ELSE 8 END");
  const std::string lines =
      " FROM standing_window JOIN contribution AS line ON line.id > tail AND line.id <= head "
      "JOIN account ON account.id = account_id "
      "WHERE reverses IS NULL AND NOT EXISTS (SELECT 1 FROM contribution AS r WHERE r.reverses = line.id) ";
  run(connection, "INSERT INTO window_total SELECT days, account_id, sum(samples), sum(credit)" + lines +
                      "GROUP BY days, account_id");
  run(connection, "INSERT INTO tally_window SELECT 1, days, line.team_id, sum(samples), sum(credit), 1" + lines +
                      "AND line.team_id IS NOT NULL GROUP BY days, line.team_id");
  run(connection, "INSERT INTO tally_window SELECT 2, days, line.host, sum(samples), sum(credit), shows_computers" +
                      lines + "GROUP BY days, line.host, shows_computers");
}

// The project took Ben's computer out, and Ada one of hers.
void revoke_some(Connection& connection) {
  run(connection, "UPDATE host SET revoked = 1 WHERE id IN (12, 14)");
  run(connection, "INSERT INTO audit (at_ms, who, action, subject, note) VALUES (1, 'operator', 'hosts revoke', ?, '')",
      peer(2).hex());
}

// Rounds that were credited are confirmed ones, and each computer's revocation has its author.
void check_standing(Connection& connection) {
  using Rows = std::vector<std::vector<double>>;
  CHECK(rows(connection, "SELECT id, confirmed, vouched FROM account ORDER BY id", 3) ==
        Rows{{1, 10, 0}, {2, 10, 0}, {kEve, 5, 0}, {4, 0, 0}});
  CHECK(rows(connection, "SELECT id, revoked, revoked_by_project FROM host ORDER BY id", 3) ==
        Rows{{11, 0, 0}, {12, 1, 1}, {13, 0, 0}, {14, 1, 0}});
}

struct Sums {
  std::vector<std::vector<double>> all, runs, windows, others, other_runs, other_windows, run;
  bool operator==(const Sums&) const = default;
};

Sums sums_of(Connection& connection, bool before) {
  const auto volunteers = [&](std::string_view old_sql, std::string_view sql, int columns) {
    return rows(connection, before ? old_sql : sql, columns);
  };
  Sums sums;
  sums.all = volunteers(
      "SELECT account_id, samples, credit, last_ms, recent, recent_ms, 1 FROM account_total ORDER BY account_id",
      "SELECT holder, samples, credit, last_ms, recent, recent_ms, shown FROM tally WHERE kind = 0 ORDER BY holder", 7);
  sums.runs = volunteers(
      "SELECT run.number, account_id, t.samples, t.credit, 1 FROM volunteer_total AS t JOIN run ON run.run_id = "
      "t.run_id ORDER BY run.number, account_id",
      "SELECT run, holder, samples, credit, shown FROM tally_run WHERE kind = 0 ORDER BY run, holder", 5);
  sums.windows = volunteers(
      "SELECT days, account_id, samples, credit, 1 FROM window_total ORDER BY days, account_id",
      "SELECT days, holder, samples, credit, shown FROM tally_window WHERE kind = 0 ORDER BY days, holder", 5);
  sums.others = rows(connection,
                     "SELECT kind, holder, samples, credit, last_ms, recent, recent_ms, shown FROM tally "
                     "WHERE kind > 0 ORDER BY kind, holder",
                     8);
  sums.other_runs = rows(connection,
                         "SELECT kind, run, holder, samples, credit, shown FROM tally_run WHERE kind > 0 "
                         "ORDER BY kind, run, holder",
                         6);
  sums.other_windows = rows(connection,
                            "SELECT kind, days, holder, samples, credit, shown FROM tally_window WHERE kind > 0 "
                            "ORDER BY kind, days, holder",
                            6);
  sums.run = rows(connection, "SELECT number, samples, credit, volunteers FROM run ORDER BY number", 4);
  return sums;
}

void check_the_database(const Stores& stores) {
  const Status totals = stores.training.contributions.verify_totals();
  CHECK_MESSAGE(totals.ok(), (totals.ok() ? "" : totals.error().message));
  const Status recent = stores.credit.corrections.verify_recent();
  CHECK_MESSAGE(recent.ok(), (recent.ok() ? "" : recent.error().message));
  CHECK(stores.credit.standings.credited("")->volunteers == 3);
  CHECK(stores.credit.standings.credited("run 1")->volunteers == 3);
  for (const Board board : {Board::recent, Board::total, Board::run, Board::day, Board::week}) {
    const Standings page = stores.credit.standings.page({.board = board, .run_id = "run 1"}).value();
    CHECK(page.volunteers == 2);
    CHECK(page.rows[0].rank == 1);
    CHECK(page.rows[0].earned(Board::total).credit > 0);
  }
  // The next line of a volunteer counts on from there.
  const Totals before = stores.credit.standings.credited("run 1")->totals;
  REQUIRE(stores.training.contributions
              .append(round_of("run 1", 99, {{peer(3), kEve, 7, 9'000'000, {kStart.unix_ms + 8 * kDay}}}))
              .ok());
  CHECK(stores.credit.standings.credited("run 1")->totals == Totals{before.samples + 7, before.credit + 9'000'000});
  CHECK(stores.credit.standings.credited("run 1")->volunteers == 3);
  CHECK(stores.credit.standings.credited("")->pending == Totals{});
  // So does one of work that is checked, and the old ones stay final.
  RoundResult checked = round_of("run 1", 100, {{peer(3), kEve, 7, 9'000'000, {kStart.unix_ms + 8 * kDay}}});
  checked.wait = 3;
  REQUIRE(stores.training.contributions.append(checked).ok());
  CHECK(stores.credit.standings.credited("")->pending == Totals{7, 9'000'000});
  CHECK(stores.credit.standings.pending(Holder::volunteer, kEve).value() == Totals{7, 9'000'000});
  CHECK(stores.credit.standings.page({.board = Board::total})->rows.size() == 3);
  CHECK(stores.training.contributions.verify_totals().ok());
  CHECK(stores.credit.corrections.verify_recent().ok());
}

void bring_up_to_date(Connection& connection, std::span<const Migration> all) {
  REQUIRE(migrate(connection, migrations_to(all, kVersionBefore)).ok());
  add_people(connection);
  add_ledger(connection);
  revoke_some(connection);
  const Sums before = sums_of(connection, true);
  CHECK(before.all.size() == 3);
  CHECK(before.runs.size() == 6);
  CHECK(before.windows.size() == 4);
  CHECK(before.other_windows.size() == 10);
  REQUIRE(migrate(connection, migrations_to(all, kVersionBeforeAudits)).ok());
  CHECK(sums_of(connection, false) == before);
  const Status migrated = migrate(connection);
  REQUIRE_MESSAGE(migrated.ok(), (migrated.ok() ? "" : migrated.error().message));
  CHECK(sums_of(connection, false) == before);
  CHECK(connection.query_int("SELECT count(*) FROM run WHERE final_below IS NOT NULL").value() == 0);
  CHECK(connection.query_int("SELECT count(*) FROM pending").value() == 0);
  check_standing(connection);
  for (const char* table : {"account_total", "volunteer_total", "window_total"}) {
    CHECK_FALSE(connection.execute("SELECT 1 FROM " + std::string(table)).ok());
  }
}

}  // namespace

TEST_CASE("volunteers' sums move into the tallies of a file as they are") {
  TempDir dir;
  {
    Connection connection = open_file(dir / "a.db", {.mode = OpenMode::create}).value();
    bring_up_to_date(connection, sqlite_migrations());
    CHECK(connection.query_int("SELECT count(*) FROM pragma_foreign_key_check").value() == 0);
  }
  const auto database = Database::open(dir / "a.db", {.ballast_bytes = 0}).value();
  check_the_database(database->stores());
}

TEST_CASE("volunteers' sums move into the tallies on a server as they are") {
  const std::string url = PostgresServer::shared().create_database();
  {
    Connection connection = open_server(url, ServerRole::writer).value();
    bring_up_to_date(connection, postgres_migrations());
  }
  const auto database = Database::connect(url, {}).value();
  check_the_database(database->stores());
}
