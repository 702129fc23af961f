// Teams and computers: their earnings for each other, through a real database.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "tests/db/stores/fixture.h"

using namespace starling;
using namespace starling::db;
using namespace starling::db::testing;
using starling::testing::TempDir;

namespace {

constexpr std::int64_t kDay = 86'400'000;

struct Fixture : Ledger {
  [[nodiscard]] std::vector<std::string> names(Holder of, Board board) const {
    std::vector<std::string> names;
    const Standings page = stores.credit.standings.page({.of = of, .board = board, .run_id = "r"}).value();
    for (const Standing& row : page.rows) names.push_back(row.display_name);
    return names;
  }
  [[nodiscard]] MicroCredit total_of(Holder of, const std::string& name) const {
    const auto page = stores.credit.standings.page({.of = of, .board = Board::total, .pinned = name});
    return page->pinned ? page->pinned->earned(Board::total).credit : -1;
  }
  void roll(WallTime now) const {
    REQUIRE(stores.credit.standings.roll(now).ok());
    REQUIRE(stores.training.runs.set_state("r", RunState::running).ok());
  }
  void check_sums() const {
    const RunAudit audit = stores.credit.corrections.audit("r", 1000).value();
    CHECK(audit.volunteers == audit.ledger);
    CHECK(audit.teams.credit + audit.teamless.credit == audit.volunteers.credit);
    CHECK(audit.teams.samples + audit.teamless.samples == audit.volunteers.samples);
    const Status totals = stores.training.contributions.verify_totals();
    CHECK_MESSAGE(totals.ok(), (totals.ok() ? "" : totals.error().message));
    const Status recent = stores.credit.corrections.verify_recent();
    CHECK_MESSAGE(recent.ok(), (recent.ok() ? "" : recent.error().message));
  }
};

}  // namespace

TEST_SUITE_BEGIN("stores");

TEST_CASE_FIXTURE(Fixture, "credit stays with the team that its volunteer was in when it was earned") {
  const AccountId ada = join_at("Ada", 1);
  const AccountId ben = join_at("Ben", 2);
  grant(ada, 1, 1'000'000, kStart);  // in no team
  REQUIRE(stores.people.teams.found(ada, "Swans", kStart).ok());
  REQUIRE(stores.people.teams.join(ben, "swans", kStart).ok());
  grant(ada, 1, 2'000'000, {kStart.unix_ms + kDay});
  grant(ben, 2, 4'000'000, {kStart.unix_ms + kDay});
  REQUIRE(stores.people.teams.leave(ada).ok());
  REQUIRE(stores.people.teams.found(ada, "Terns", kStart).ok());
  grant(ada, 1, 8'000'000, {kStart.unix_ms + 2 * kDay});
  CHECK(total_of(Holder::team, "Swans") == 6'000'000);
  CHECK(total_of(Holder::team, "Terns") == 8'000'000);
  CHECK(total_of(Holder::volunteer, "Ada") == 11'000'000);
  CHECK(stores.credit.corrections.audit("r", 1000)->teamless.credit == 1'000'000);
  const Standings people = stores.credit.standings.page({.pinned = "Ben"}).value();
  CHECK(people.pinned->team_name == "Swans");
  CHECK(people.pinned->team_id == stores.people.teams.find_named("Swans")->id);
  CHECK(people.rows[0].team_name == "Terns");
  const auto swans = stores.people.teams.find_named("Swans").value();
  CHECK(swans.founder == "Ada");
  CHECK(swans.members == 1);
  const auto members = stores.people.teams.members(swans.id, 10).value();
  REQUIRE(members.size() == 2);
  CHECK(members[0].display_name == "Ben");
  CHECK(members[0].is_there);
  CHECK(members[1].earned.credit == 2'000'000);
  CHECK_FALSE(members[1].is_there);
  roll({kStart.unix_ms + 2 * kDay});
  CHECK(names(Holder::team, Board::total) == std::vector<std::string>{"Terns", "Swans"});
  CHECK(names(Holder::team, Board::run) == std::vector<std::string>{"Terns", "Swans"});
  CHECK(names(Holder::team, Board::week) == std::vector<std::string>{"Terns", "Swans"});
  CHECK(names(Holder::team, Board::day) == std::vector<std::string>{"Terns"});
  CHECK(names(Holder::team, Board::recent).front() == "Terns");
  check_sums();
}

TEST_CASE_FIXTURE(Fixture, "a volunteer is in one team at a time, and a team that never earned anything ends empty") {
  const AccountId ada = join_at("Ada", 1);
  const AccountId ben = join_at("Ben", 2);
  CHECK(stores.people.teams.leave(ada).error().code == ErrorCode::failed_precondition);
  REQUIRE(stores.people.teams.found(ada, "Swans", kStart).ok());
  CHECK(stores.people.teams.found(ada, "Terns", kStart).error().code == ErrorCode::failed_precondition);
  CHECK(stores.people.teams.found(ben, "sWANS", kStart).error().code == ErrorCode::already_exists);
  CHECK(stores.people.teams.join(ben, "Terns", kStart).error().code == ErrorCode::not_found);
  REQUIRE(stores.people.teams.found(ben, "Terns", kStart).ok());
  REQUIRE(stores.people.teams.join(ben, "Swans", kStart).ok());
  CHECK(stores.people.teams.find_named("Terns").error().code == ErrorCode::not_found);
  grant(ben, 2, 1'000'000, kStart);
  REQUIRE(stores.people.keeper.erase(ben, kStart).ok());  // leaves
  REQUIRE(stores.people.teams.leave(ada).ok());
  CHECK(stores.people.teams.find_named("Swans")->members == 0);  // remains, because it has earned something
  CHECK(total_of(Holder::team, "Swans") == 1'000'000);
  check_sums();
}

TEST_CASE_FIXTURE(Fixture, "a team that is kept out has no name, no newcomers and earns nothing, until that is over") {
  const AccountId ada = join_at("Ada", 1);
  const AccountId ben = join_at("Ben", 2);
  const WallTime now = SystemClock().wall_now();
  const Team team = stores.people.teams.found(ada, "Rude words", now).value();
  grant(ada, 1, 1'000'000, now);
  const auto ban =
      stores.operation.bans.add({0, BanKind::team, std::to_string(team.id), "its name", now, kNoExpiry}).value();
  CHECK(stores.people.teams.find(team.id)->name.find("Rude") == std::string::npos);
  CHECK(names(Holder::team, Board::total).front().find("Rude") == std::string::npos);
  const Status refused = stores.people.teams.join(ben, "Rude words", now).status();
  CHECK(refused.error().code == ErrorCode::permission_denied);
  CHECK(refused.error().message.find("its name") != std::string::npos);
  grant(ada, 1, 2'000'000, now);
  CHECK(stores.credit.corrections.audit("r", 1000)->teamless.credit == 2'000'000);
  REQUIRE(stores.operation.bans.remove(ban).ok());
  CHECK(stores.people.teams.join(ben, "Rude words", now).ok());
  grant(ada, 1, 4'000'000, now);
  CHECK(total_of(Holder::team, "Rude words") == 5'000'000);
  check_sums();
}

TEST_CASE("a team is kept out for as long as the coordinator's clock says, whatever the database's does") {
  class SetClock final : public Clock {
   public:
    [[nodiscard]] TimePoint now() const override { return {}; }
    [[nodiscard]] WallTime wall_now() const override { return wall; }
    WallTime wall{1000};
  };
  TempDir dir;
  SetClock clock;
  const auto database = open(dir / "a.db", {.clock = &clock});
  const Stores& stores = database->stores();
  const AccountId ada = join(stores, "Ada", 1);
  const Team team = stores.people.teams.found(ada, "Rude words", {1000}).value();
  REQUIRE(stores.operation.bans.add({0, BanKind::team, std::to_string(team.id), "its name", {1000}, {5000}}).ok());
  const auto names = [&] {
    std::set<std::string> shown = {stores.people.teams.find(team.id)->name, stores.people.teams.of(ada)->value().name,
                                   stores.people.teams.find_named("Rude words")->name};
    return shown;
  };
  CHECK(names() == std::set<std::string>{"(team 1, kept out)"});
  clock.wall = {5000};
  CHECK(names() == std::set<std::string>{"Rude words"});
}

TEST_CASE_FIXTURE(Fixture, "computers are on their board for as long as their owner wants it") {
  const AccountId ada = join_at("Ada", 1);
  const AccountId ben = join_at("Ben", 2);
  REQUIRE(stores.people.accounts.join({"", peer(3), {}, {kStart.unix_ms + 1}, AccountState::active, ada}).ok());
  grant(ada, 1, 1'000'000, kStart);
  grant(ben, 2, 2'000'000, kStart);
  roll(kStart);
  CHECK(names(Holder::computer, Board::total).empty());
  REQUIRE(stores.people.keeper.show_computers(ada, true).ok());
  grant(ada, 3, 4'000'000, kStart);
  roll({kStart.unix_ms + 10'000});
  for (const Board board : {Board::recent, Board::total, Board::run, Board::day, Board::week}) {
    CHECK(names(Holder::computer, board) == std::vector<std::string>{"Ada, computer 2", "Ada, computer 1"});
  }
  CHECK(stores.credit.standings.page({.of = Holder::computer, .board = Board::total})->volunteers == 2);
  CHECK(stores.credit.standings.page({.of = Holder::computer, .search = "ad"})->rows.size() == 2);
  REQUIRE(stores.people.keeper.show_computers(ada, false).ok());
  for (const Board board : {Board::recent, Board::total, Board::run, Board::day, Board::week}) {
    CHECK(names(Holder::computer, board).empty());
  }
  CHECK(stores.credit.standings.page({.of = Holder::computer, .search = "ad"})->rows.empty());
  check_sums();
}

TEST_CASE_FIXTURE(Fixture, "what is corrected is gone from teams, computers and days as well") {
  const AccountId ada = join_at("Ada", 1);
  const AccountId eve = join_at("Eve", 2);
  REQUIRE(stores.people.teams.found(ada, "Swans", kStart).ok());
  REQUIRE(stores.people.teams.join(eve, "Swans", kStart).ok());
  WallTime now = kStart;
  for (int i = 0; i < 12; ++i) {
    now = {kStart.unix_ms + i * kDay / 3};
    grant(ada, 1, 3'000'000, now);
    grant(eve, 2, 50'000'000, now);
    roll(now);
    if (i == 6) REQUIRE(stores.people.teams.leave(eve).ok());
  }
  REQUIRE(
      stores.credit.corrections.correct({.account_id = eve, .reason = "counted what nobody reduced", .now = now}).ok());
  CHECK(total_of(Holder::team, "Swans") == 36'000'000);
  check_sums();
  roll({now.unix_ms + 3 * kDay});
  check_sums();
  const auto profile = stores.credit.standings.profile({Holder::team, 1, now, 3});
  REQUIRE(profile.ok());
  REQUIRE(profile->days.size() == 3);
  CHECK(profile->days.front().earned.credit == 9'000'000);
}

TEST_CASE_FIXTURE(Fixture, "a profile tells ranks, runs and days") {
  constexpr std::int64_t kLastDay = 9;
  for (std::uint8_t i = 1; i <= 20; ++i) {
    const AccountId account = join_at("volunteer " + std::to_string(i), i);
    grant(account, i, i * 1'000'000, kStart);
    if (i == 7) grant(account, i, 100'000'000, {kStart.unix_ms + kLastDay * kDay});
  }
  const AccountId idle = join_at("idle", 30);
  const WallTime now{kStart.unix_ms + kLastDay * kDay};
  const auto page = stores.credit.standings.page({.board = Board::total, .pinned = "volunteer 7"});
  const auto profile = stores.credit.standings.profile({Holder::volunteer, page->pinned->holder_id, now, 30});
  REQUIRE(profile.ok());
  CHECK(profile->standing.display_name == "volunteer 7");
  CHECK(profile->standing.earned(Board::total).credit == 107'000'000);
  CHECK(profile->standing.rank == 1);  // by the recent average
  CHECK(profile->total_rank == 1);
  CHECK(profile->ranked == 1);  // the others are below one credit a day
  REQUIRE(profile->runs.size() == 1);
  CHECK(profile->runs[0].run_id == "r");
  REQUIRE(profile->days.size() == 2);
  CHECK(profile->days[1].day == now.unix_ms / kDay);
  CHECK(profile->days[1].earned.credit == 100'000'000);
  const auto nothing = stores.credit.standings.profile({Holder::volunteer, idle, now, 30});
  REQUIRE(nothing.ok());
  CHECK(nothing->standing.rank == 0);
  CHECK(nothing->total_rank == 0);
  CHECK(stores.credit.standings.profile({Holder::volunteer, 999, now, 30}).error().code == ErrorCode::not_found);
}

TEST_SUITE_END();
