// Findings of audits, through a real database.
#include "db/stores/check_store.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <string>

#include "db/postgres/open.h"
#include "db/sqlite/open.h"
#include "tests/db/stores/fixture.h"

using namespace starling;
using namespace starling::db;
using namespace starling::db::testing;
using starling::testing::TempDir;

namespace {

struct Fixture {
  TempDir dir;
  std::unique_ptr<Database> database = open(dir / "a.db");
  const Stores& stores = database->stores();
  WorkCheckStore& checks = stores.credit.checks;
  AccountId ada = join(stores, "Ada", 1);
  AccountId ben = join(stores, "Ben", 2);

  Fixture() {
    create_run(stores, "r");
    create_run(stores, "s");
  }
  void add(std::uint8_t number, RoundIndex round, Verdict verdict, const RunId& run = "r") const {
    WorkCheck check;
    check.run_id = run;
    check.round = round;
    check.peer_id = peer(number);
    check.account_id = number == 1 ? ada : ben;
    check.verdict = verdict;
    if (verdict != Verdict::unchecked) check.auditors = {peer(2), peer(1)};
    check.distance = 0.25;
    check.why = "half of it";
    check.at = {5000 + round};
    const Status added = checks.add(check);
    REQUIRE_MESSAGE(added.ok(), (added.ok() ? "" : added.error().message));
  }
  Connection raw() const {
    const std::string url = server_url(dir / "a.db");
    return url.empty() ? open_file(dir / "a.db", {.mode = OpenMode::read_write}).value()
                       : open_server(url, ServerRole::writer).value();
  }
  // The next check has this number.
  void go_on_with(std::int64_t id) const {
    Connection connection = raw();
    const std::string sql = connection.dialect() == Dialect::sqlite
                                ? fmt::format("UPDATE sqlite_sequence SET seq = {} WHERE name = 'work_check'", id - 1)
                                : fmt::format("SELECT setval(pg_get_serial_sequence('work_check', 'id'), {})", id - 1);
    REQUIRE(connection.execute(sql).ok());
  }
};

}  // namespace

TEST_SUITE_BEGIN("stores");

TEST_CASE_FIXTURE(Fixture, "a check comes back as it was stored, and lists have the newest first") {
  add(1, 3, Verdict::clean);
  add(2, 3, Verdict::missed);
  add(1, 4, Verdict::unchecked, "s");
  const auto all = checks.list({}).value();
  REQUIRE(all.size() == 3);
  CHECK(all[0].run_id == "s");
  CHECK(all[0].auditors.empty());
  CHECK(all[1].verdict == Verdict::missed);
  CHECK(all[1].peer_id == peer(2));
  CHECK(all[1].account_id == ben);
  CHECK(all[1].round == 3);
  CHECK(all[1].auditors == std::vector<PeerId>{peer(2), peer(1)});
  CHECK(all[1].distance == 0.25);
  CHECK(all[1].why == "half of it");
  CHECK(all[1].at == WallTime{5003});
  CHECK(checks.find(all[1].id)->peer_id == peer(2));
  CHECK(checks.find(99).error().code == ErrorCode::not_found);
  CHECK(checks.list({.run_id = "r"})->size() == 2);
  CHECK(checks.list({.run_id = "r", .missed_only = true})->size() == 1);
  CHECK(checks.list({.page = {.limit = 1, .offset = 2}})->front().verdict == Verdict::clean);
}

TEST_CASE_FIXTURE(Fixture, "a computer stands where its checks have put it, in each run") {
  for (RoundIndex round = 0; round < 4; ++round) add(1, round, Verdict::clean);
  add(1, 4, Verdict::missed);
  add(1, 5, Verdict::clean);
  add(1, 6, Verdict::unchecked);
  add(1, 7, Verdict::clean);
  add(2, 7, Verdict::unchecked);
  add(2, 7, Verdict::clean, "s");
  const auto in_r = checks.standings("r").value();
  REQUIRE(in_r.size() == 2);
  CHECK(in_r[0].peer_id == peer(1));
  CHECK(in_r[0].account_id == ada);
  CHECK(in_r[0].clean_in_a_row == 2);
  CHECK(in_r[0].missed == 1);
  CHECK(in_r[0].last_miss > 0);
  CHECK(in_r[1].clean_in_a_row == 0);
  CHECK(in_r[1].missed == 0);
  CHECK(in_r[1].last_miss == 0);
  CHECK(checks.standings("s")->front().clean_in_a_row == 1);
  CHECK(checks.sums("r")->clean == 6);
  CHECK(checks.sums("r")->missed == 1);
  CHECK(checks.sums("r")->unchecked == 2);
  CHECK(checks.sums("")->checked() == 8);
  CHECK(checks.sums_of(ada)->clean == 6);
  CHECK(checks.sums_of(ben)->clean == 1);
}

TEST_CASE_FIXTURE(Fixture, "a check that is stored again counts once, and one that was late takes the place of none") {
  add(1, 3, Verdict::unchecked);
  add(1, 3, Verdict::unchecked);
  CHECK(checks.sums("r")->unchecked == 1);
  add(1, 3, Verdict::missed);
  CHECK(checks.sums("r")->unchecked == 0);
  CHECK(checks.sums("r")->missed == 1);
  add(1, 3, Verdict::clean);
  add(1, 3, Verdict::unchecked);
  CHECK(checks.list({})->size() == 1);
  CHECK(checks.list({})->front().verdict == Verdict::missed);
  CHECK(checks.standings("r")->front().missed == 1);
}

TEST_CASE_FIXTURE(Fixture, "old checks go, misses much later, and the counts stay") {
  add(1, 1, Verdict::clean);
  add(1, 2, Verdict::missed);
  add(1, 3, Verdict::unchecked);
  go_on_with(1 + WorkCheckStore::kKeptMax);
  add(1, 4, Verdict::clean);
  CHECK(checks.list({})->size() == 3);
  go_on_with(3 + WorkCheckStore::kKeptMax);
  add(1, 5, Verdict::clean);
  REQUIRE(checks.list({})->size() == 3);
  CHECK(checks.list({})->back().verdict == Verdict::missed);
  go_on_with(2 + WorkCheckStore::kMissedKeptMax);
  add(1, 6, Verdict::clean);
  CHECK(checks.list({})->size() == 1);
  CHECK(checks.sums("r")->clean == 4);
  CHECK(checks.standings("r")->front().missed == 1);
}

TEST_CASE_FIXTURE(Fixture, "what a liar sends does not keep its check from being stored") {
  WorkCheck check;
  check.run_id = "r";
  check.peer_id = peer(1);
  check.account_id = ada;
  check.verdict = Verdict::missed;
  check.distance = std::numeric_limits<double>::quiet_NaN();
  for (int i = 0; i < 300; ++i) check.why += "é";
  check.auditors.assign(100, peer(2));
  REQUIRE(checks.add(check).ok());
  const WorkCheck stored = checks.list({})->front();
  CHECK(std::isinf(stored.distance));
  CHECK(stored.why.size() == 500);
  CHECK(stored.auditors.size() == WorkCheckStore::kAuditorsMax);
}

TEST_CASE_FIXTURE(Fixture, "a check of a computer that is not known is refused") {
  WorkCheck check;
  check.run_id = "r";
  check.peer_id = peer(9);
  check.account_id = ada;
  CHECK(checks.add(check).error().code == ErrorCode::invalid_argument);
  CHECK(checks.sums("")->clean == 0);
}

TEST_SUITE_END();
