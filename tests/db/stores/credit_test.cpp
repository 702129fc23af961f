// Recent averages, boards, windows and corrections, through a real database.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/db/stores/fixture.h"

using namespace starling;
using namespace starling::db;
using namespace starling::db::testing;
using starling::testing::TempDir;

namespace {

constexpr std::int64_t kDay = 86'400'000;

constexpr MicroCredit credits(double count) { return static_cast<MicroCredit>(count * 1e6); }

struct Fixture : Ledger {
  double recent(const std::string& name, WallTime now) {
    const auto page = stores.credit.standings.page({.run_id = "r", .pinned = name});
    REQUIRE(page->pinned.has_value());
    return decayed(page->pinned->recent, now);
  }
  std::vector<std::string> names(const StandingsRequest& request) {
    std::vector<std::string> names;
    const Standings page = stores.credit.standings.page(request).value();
    for (const Standing& row : page.rows) names.push_back(row.display_name);
    return names;
  }
  // Rolls the windows. The write after it waits for the queue that roll() filled.
  void roll(WallTime now) {
    REQUIRE(stores.credit.standings.roll(now).ok());
    REQUIRE(stores.training.runs.set_state("r", RunState::running).ok());
  }
};

}  // namespace

TEST_SUITE_BEGIN("stores");

TEST_CASE_FIXTURE(Fixture, "100 credits a day grow to 100 recent with a half-life of 7 days, and decay so") {
  const AccountId ada = join_at("Ada", 1);
  const struct {
    int day;
    double expected;
  } known[] = {{1, 9.4276}, {7, 50.0}, {14, 75.0}, {28, 93.75}};  // BOINC's formula
  int day = 0;
  for (const auto& [until, expected] : known) {
    while (day < until) grant(ada, 1, credits(100), {kStart.unix_ms + ++day * kDay});
    CAPTURE(day);
    CHECK(recent("Ada", {kStart.unix_ms + day * kDay}) == doctest::Approx(expected).epsilon(1e-5));
  }
  CHECK(recent("Ada", {kStart.unix_ms + (28 + 7) * kDay}) == doctest::Approx(93.75 / 2).epsilon(1e-5));
  CHECK(stores.credit.corrections.verify_recent().ok());
}

TEST_CASE_FIXTURE(Fixture, "somebody who was away for decades starts anew") {
  const AccountId ada = join_at("Ada", 1);
  grant(ada, 1, credits(100), kStart);
  for (const std::int64_t years : {2, 60, 120}) {
    const WallTime then{kStart.unix_ms + years * 365 * kDay};
    grant(ada, 1, credits(100), then);
    CHECK(recent("Ada", then) < 1);
    grant(ada, 1, credits(100), {then.unix_ms + kDay});
    CHECK(recent("Ada", {then.unix_ms + kDay}) > 9);
  }
  CHECK(stores.credit.corrections.verify_recent().ok());
}

TEST_CASE_FIXTURE(Fixture, "grants at one instant, and a clock that goes back, are no division by nothing") {
  const AccountId ada = join_at("Ada", 1);
  grant(ada, 1, credits(10), kStart);
  CHECK(recent("Ada", kStart) == doctest::Approx(0.99021).epsilon(1e-5));
  grant(ada, 1, credits(10), kStart);
  CHECK(recent("Ada", kStart) == doctest::Approx(2 * 0.99021).epsilon(1e-5));
  grant(ada, 1, credits(10), {kStart.unix_ms - kDay});
  CHECK(recent("Ada", kStart) == doctest::Approx(3 * 0.99021).epsilon(1e-5));
  CHECK(stores.credit.corrections.verify_recent().ok());
}

TEST_CASE_FIXTURE(Fixture, "the order by the kept key is the order of the decayed averages, at any time") {
  constexpr int kPeople = 60;
  constexpr unsigned kSeed = 20240611;
  CAPTURE(kSeed);
  std::mt19937 random(kSeed);
  std::vector<AccountId> accounts;
  for (int i = 0; i < kPeople; ++i) {
    accounts.push_back(join_at("volunteer " + std::to_string(i), static_cast<std::uint8_t>(i + 1)));
  }
  std::int64_t now_ms = kStart.unix_ms;
  for (int i = 0; i < 40; ++i) {
    std::vector<Contribution> lines;
    for (int who = 0; who < kPeople; ++who) {
      now_ms += std::uniform_int_distribution<std::int64_t>(0, kDay / 30)(random);
      if (std::uniform_int_distribution<int>(0, 3)(random) != 0) continue;
      const double amount = std::exp(std::uniform_real_distribution<double>(-3, 8)(random));
      lines.push_back({peer(static_cast<std::uint8_t>(who + 1)),
                       accounts[static_cast<std::size_t>(who)],
                       1,
                       credits(amount),
                       {now_ms}});
    }
    REQUIRE(stores.training.contributions.append(round_of("r", round++, lines)).ok());
  }
  const auto page = stores.credit.standings.page({.limit = kPeople});
  REQUIRE(page->rows.size() > 50);
  for (const std::int64_t later : {std::int64_t{0}, kDay, 30 * kDay, 300 * kDay}) {
    CAPTURE(later);
    CHECK(std::is_sorted(page->rows.begin(), page->rows.end(), [&](const Standing& a, const Standing& b) {
      return decayed(a.recent, {now_ms + later}) > decayed(b.recent, {now_ms + later});
    }));
  }
  CHECK(stores.credit.corrections.verify_recent().ok());
  CHECK(stores.training.contributions.verify_totals().ok());
}

TEST_CASE_FIXTURE(Fixture, "every board has its own order, its own members and its own count") {
  const AccountId ada = join_at("Ada", 1);
  const AccountId ben = join_at("Ben", 2);
  const AccountId eve = join_at("Eve", 3);
  join_at("idle", 4);
  create_run(stores, "s");
  const WallTime now{kStart.unix_ms + 20 * kDay};
  grant(ada, 1, credits(1000), kStart);                   // long ago
  grant(ben, 2, credits(300), {now.unix_ms - 3 * kDay});  // this week
  grant(ben, 2, credits(1), {now.unix_ms - 3'600'000});   // today
  REQUIRE(
      stores.training.contributions.append(round_of("s", 0, {{peer(3), eve, 9, credits(20), {now.unix_ms - 60'000}}}))
          .ok());
  roll(now);
  CHECK(names({.board = Board::total}) == std::vector<std::string>{"Ada", "Ben", "Eve"});
  CHECK(names({.board = Board::run, .run_id = "r"}) == std::vector<std::string>{"Ada", "Ben"});
  CHECK(names({.board = Board::run, .run_id = "s"}) == std::vector<std::string>{"Eve"});
  CHECK(names({.board = Board::week}) == std::vector<std::string>{"Ben", "Eve"});
  CHECK(names({.board = Board::day}) == std::vector<std::string>{"Eve", "Ben"});
  const auto second = stores.credit.standings.page({.board = Board::total, .run_id = "s", .limit = 1, .offset = 1});
  CHECK(second->volunteers == 3);
  REQUIRE(second->rows.size() == 1);
  CHECK(second->rows[0].rank == 2);
  CHECK(second->rows[0].display_name == "Ben");
  CHECK(second->rows[0].earned(Board::total).credit == credits(301));
  CHECK(second->rows[0].earned(Board::run).credit == 0);
  CHECK(second->rows[0].earned(Board::day).credit == credits(1));
  CHECK(second->rows[0].earned(Board::week).credit == credits(301));
  CHECK(second->rows[0].joined == kStart);
}

TEST_CASE_FIXTURE(Fixture, "names are found by any part of them, with their ranks; a pinned row is there anyway") {
  for (std::uint8_t i = 1; i <= 20; ++i) grant(join_at("volunteer " + std::to_string(i), i), i, credits(i), kStart);
  const AccountId odd = join_at("50%_off", 30);
  grant(odd, 30, credits(5.5), kStart);
  const auto found = stores.credit.standings.page({.board = Board::total, .search = "TEER 1", .pinned = "VOLUNTEER 7"});
  CHECK(found->volunteers == 11);  // 1 and 10 … 19
  CHECK(found->rows[0].display_name == "volunteer 19");
  CHECK(found->rows[0].rank == 2);
  CHECK(found->rows[10].display_name == "volunteer 1");
  CHECK(found->rows[10].rank == 21);
  CHECK(found->pinned->rank == 14);
  CHECK(names({.search = "%_"}) == std::vector<std::string>{"50%_off"});
  CHECK(names({.search = "' OR 1=1 --"}).empty());
  CHECK_FALSE(stores.credit.standings.page({.pinned = "nobody"})->pinned.has_value());
  CHECK(stores.credit.standings.page({.board = Board::day, .pinned = "50%_off"})->pinned->rank == 0);
  CHECK(names({.board = Board::total, .limit = 2, .offset = 9, .search = "teer 1"}) ==
        std::vector<std::string>{"volunteer 10", "volunteer 1"});
}

TEST_CASE_FIXTURE(Fixture, "sums of the last day and week follow the time, line by line") {
  const AccountId ada = join_at("Ada", 1);
  const auto day = [&] { return stores.credit.standings.page({.pinned = "Ada"})->pinned->earned(Board::day).credit; };
  const auto week = [&] { return stores.credit.standings.page({.pinned = "Ada"})->pinned->earned(Board::week).credit; };
  constexpr int kADay = 4;
  for (int quarter = 0; quarter < 9 * kADay; ++quarter) {
    const WallTime now{kStart.unix_ms + quarter * kDay / kADay};
    grant(ada, 1, credits(1), now);
    roll(now);
    CHECK(day() == credits(std::min(quarter + 1, kADay)));
    CHECK(week() == credits(std::min(quarter + 1, 7 * kADay)));
  }
  CHECK(stores.training.contributions.verify_totals().ok());
  roll({kStart.unix_ms + 30 * kDay});
  CHECK(stores.credit.standings.page({.board = Board::week})->volunteers == 0);
  CHECK(stores.training.contributions.verify_totals().ok());
}

TEST_CASE_FIXTURE(Fixture, "what is corrected is gone from every total, and stays in the ledger with its reason") {
  const AccountId ada = join_at("Ada", 1);
  const AccountId eve = join_at("Eve", 2);
  REQUIRE(stores.people.accounts.join({"Eve 2", peer(3), {}, kStart}).ok());
  WallTime now = kStart;
  for (int i = 0; i < 40; ++i) {
    now = {kStart.unix_ms + i * kDay / 4};
    grant(ada, 1, credits(3), now);
    if (i % 2 == 0) grant(eve, 2, credits(50), now);
    roll(now);
  }
  const double before = recent("Ada", now);
  const CorrectionRequest wrong{.account_id = eve, .reason = "counted what nobody reduced", .now = now};
  CHECK(stores.credit.corrections.preview(wrong)->lines == 20);
  const auto outcome = stores.credit.corrections.correct(wrong);
  CHECK(outcome->lines == 20);
  CHECK(outcome->taken_back.credit == credits(1000));
  CHECK(stores.credit.corrections.correct(wrong)->lines == 0);  // no line is reversed twice
  CHECK(stores.training.contributions.ledger_sum("r")->credit == credits(120));
  CHECK(stores.credit.standings.credited("r")->totals.credit == credits(120));
  for (const Board board : {Board::recent, Board::total, Board::run, Board::day, Board::week}) {
    CHECK(names({.board = board, .run_id = "r"}) == std::vector<std::string>{"Ada"});
  }
  CHECK(recent("Ada", now) == before);
  roll({now.unix_ms + 3 * kDay});  // the reversed lines leave the windows without a trace
  CHECK(stores.training.contributions.verify_totals().ok());
  CHECK(stores.credit.corrections.verify_recent().ok());
  CHECK(stores.training.contributions.entries_of(eve, {})->size() == 40);
}

TEST_CASE_FIXTURE(Fixture, "a correction reaches only the rounds, the run and the computer it names") {
  const AccountId ada = join_at("Ada", 1);
  for (int i = 0; i < 10; ++i) grant(ada, 1, credits(1), {kStart.unix_ms + i * kDay});
  CHECK(stores.credit.corrections.preview({.account_id = ada, .run_id = "other"})->lines == 0);
  CHECK(stores.credit.corrections.preview({.account_id = ada, .peer_id = peer(2)})->lines == 0);
  CHECK(stores.credit.corrections.preview({.account_id = ada, .peer_id = peer(1), .run_id = "r"})->lines == 10);
  CorrectionRequest some{.account_id = ada, .run_id = "r", .round_min = 3, .round_max = 5, .reason = "x", .now = {}};
  CHECK(stores.credit.corrections.correct(some)->lines == 3);
  CHECK(stores.training.contributions.ledger_sum("r")->credit == credits(7));
  CHECK(stores.training.contributions.verify_totals().ok());
  CHECK(stores.credit.corrections.verify_recent().ok());
  some.reason.clear();
  some.round_max = 6;
  CHECK_FALSE(stores.credit.corrections.correct(some).ok());  // a correction requires a reason
  CHECK(stores.training.contributions.ledger_sum("r")->credit == credits(7));
}

TEST_CASE_FIXTURE(Fixture, "an audit adds every line up and finds those that are not worth their samples") {
  const AccountId ada = join_at("Ada", 1);
  for (int i = 0; i < 10; ++i) grant(ada, 1, credits(1), {kStart.unix_ms + i});  // 1000 micro-credits per sample
  REQUIRE(stores.credit.corrections.correct({.account_id = ada, .round_max = 1, .reason = "x", .now = {}}).ok());
  auto audit = stores.credit.corrections.audit("r", 1000.0000004);
  CHECK(audit->lines == 12);
  CHECK(audit->reversals == 2);
  CHECK(audit->ledger == Totals{8000, credits(8)});
  CHECK(audit->volunteers == audit->ledger);
  CHECK(audit->misvalued == 0);
  CHECK(stores.credit.corrections.audit("r", 1001)->misvalued == 12);
}

TEST_SUITE_END();

TEST_CASE_FIXTURE(Fixture, "the file grows by at most 100 bytes a ledger line") {
  constexpr int kPeople = 200;
  constexpr int kRounds = 100;
  std::vector<Contribution> lines;
  for (int i = 0; i < kPeople; ++i) {
    const auto number = static_cast<std::uint8_t>(i);
    lines.push_back({peer(number), join_at("volunteer " + std::to_string(i), number), 1000, credits(2000), kStart});
  }
  // Closing moves everything from the WAL into the file.
  const auto file_bytes = [&] {
    database.reset();
    return static_cast<double>(std::filesystem::file_size(dir / "a.db"));
  };
  REQUIRE(stores.training.contributions.append(round_of("r", round++, lines)).ok());
  const double before = file_bytes();
  database = open(dir / "a.db");
  for (int i = 0; i < kRounds; ++i) {
    for (Contribution& line : lines) line.at.unix_ms += 30'000;
    REQUIRE(database->stores().training.contributions.append(round_of("r", round++, lines))->inserted == kPeople);
  }
  const double bytes_a_line = (file_bytes() - before) / (kPeople * kRounds);
  MESSAGE("bytes a ledger line: " << bytes_a_line);
  CHECK(bytes_a_line <= 100);
}
