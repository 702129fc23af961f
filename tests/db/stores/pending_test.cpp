// Credit that waits until its work is checked: what is pending, what becomes final, and what is taken back before.
#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "db/postgres/open.h"
#include "db/sqlite/open.h"
#include "tests/db/stores/fixture.h"

using namespace starling;
using namespace starling::db;
using namespace starling::db::testing;
using starling::testing::TempDir;

namespace {

constexpr RoundIndex kWait = 3;
constexpr Totals kNothing{};

// A run "r" whose credit waits for three rounds, and one, "free", whose credit does not. Ada has two computers, and is
// in a team; Ben has one.
struct Fixture {
  TempDir dir;
  std::unique_ptr<Database> database = open(dir / "a.db");
  const Stores& stores = database->stores();
  AccountId ada = join(stores, "Ada", 1);
  AccountId ben = join(stores, "Ben", 3);
  TeamId poets = 0;

  Fixture() {
    JoinRequest second{"", peer(2), {}, {1000}};
    second.account_id = ada;
    REQUIRE(stores.people.accounts.join(second).ok());
    poets = stores.people.teams.found(ada, "Poets", {1000})->id;
    create_run(stores, "r");
    create_run(stores, "free");
  }

  // Every computer brings 10 samples a round, for 100 millionths of credit.
  RoundResult result(const RunId& run, RoundIndex round, RoundIndex wait) const {
    RoundResult result = round_of(run, round,
                                  {{peer(1), ada, 10, 100, {3000 + round}},
                                   {peer(2), ada, 10, 100, {3000 + round}},
                                   {peer(3), ben, 10, 100, {3000 + round}}});
    result.wait = wait;
    if (wait > 0) result.final_below = std::max<RoundIndex>(0, round + 1 - wait);
    return result;
  }
  void decide(RoundIndex round, RoundIndex wait = kWait, const RunId& run = "r") {
    REQUIRE(stores.training.contributions.append(result(run, round, wait))->inserted == 3);
  }
  void decide_to(RoundIndex end) {
    for (RoundIndex round = 0; round < end; ++round) decide(round);
  }
  [[nodiscard]] Totals pending(AccountId account) const {
    return stores.credit.standings.pending(Holder::volunteer, account).value();
  }
  CorrectionOutcome take_back(std::uint8_t number, AccountId account, RoundIndex from) const {
    return stores.credit.corrections.void_pending({"r", peer(number), account, from, "it sent zeros", {9000}}).value();
  }
  void check_sums() const {
    for (const Status& status :
         {stores.training.contributions.verify_totals(), stores.credit.corrections.verify_recent()}) {
      CHECK_MESSAGE(status.ok(), (status.ok() ? "" : status.error().message));
    }
    const RunAudit audit = stores.credit.corrections.audit("r", 10).value();
    CHECK(audit.waiting == audit.pending);
    CHECK(audit.final_lines.credit + audit.pending.credit == audit.volunteers.credit);
    CHECK(audit.ledger == audit.volunteers);
  }
  // A connection past the stores, for what they would never do.
  Connection raw() const {
    const std::string url = server_url(dir / "a.db");
    return url.empty() ? open_file(dir / "a.db", {.mode = OpenMode::read_write}).value()
                       : open_server(url, ServerRole::writer).value();
  }
};

}  // namespace

TEST_SUITE_BEGIN("stores");

TEST_CASE_FIXTURE(Fixture, "credit counts at once, is pending for as many rounds as it waits, and then final") {
  decide(0);
  decide(1);
  CHECK(pending(ada) == Totals{40, 400});
  CHECK(stores.credit.standings.page({.board = Board::total})->rows.size() == 2);
  decide(2);  // round 0 has waited for three rounds with this one's end
  CHECK(stores.training.runs.find("r")->final_below == 0);
  decide(3);
  CHECK(stores.training.runs.find("r")->final_below == 1);
  CHECK(pending(ada) == Totals{60, 600});
  CHECK(pending(ben) == Totals{30, 300});
  CHECK(stores.credit.standings.pending(Holder::team, poets).value() == Totals{60, 600});
  CHECK(stores.credit.standings.credited("r")->pending == Totals{90, 900});
  CHECK(stores.credit.standings.credited("r")->totals == Totals{120, 1200});
  CHECK(stores.credit.standings.credited("free")->pending == kNothing);
  check_sums();
  const Profile profile = stores.credit.standings.profile({Holder::volunteer, ada, {9000}}).value();
  CHECK(profile.pending == Totals{60, 600});
  REQUIRE(profile.runs.size() == 1);
  CHECK(profile.runs[0].earned == Totals{80, 800});
  CHECK(profile.runs[0].pending == Totals{60, 600});
}

TEST_CASE_FIXTURE(Fixture, "a run without checks has nothing pending, and no mark is kept for it") {
  decide(0, 0, "free");
  CHECK(stores.training.runs.find("free")->final_below == std::nullopt);
  CHECK(pending(ada) == kNothing);
  CHECK(raw().query_int("SELECT count(*) FROM pending").value() == 0);
  check_sums();
}

TEST_CASE_FIXTURE(Fixture, "what was credited before credit began to wait stays final") {
  decide(0, 0);
  decide(1, 0);
  CHECK(stores.training.runs.find("r")->final_below == std::nullopt);
  decide(2);
  CHECK(stores.training.runs.find("r")->final_below == 2);
  CHECK(pending(ada) == Totals{20, 200});
  // A round that is stored again adds no line, and makes none pending.
  CHECK(stores.training.contributions.append(result("r", 0, kWait))->duplicates == 3);
  CHECK(pending(ada) == Totals{20, 200});
  check_sums();
}

TEST_CASE_FIXTURE(Fixture, "the mark never goes back, whoever says so") {
  decide_to(6);
  CHECK(stores.training.runs.find("r")->final_below == 3);
  RoundResult earlier = result("r", 6, kWait);
  earlier.final_below = 1;
  REQUIRE(stores.training.contributions.append(earlier).ok());
  CHECK(stores.training.runs.find("r")->final_below == 3);
  CHECK(raw().execute("UPDATE run SET final_below = 1 WHERE run_id = 'r'").error().code == ErrorCode::invalid_argument);
  CHECK(raw().execute("UPDATE run SET final_below = NULL").error().code == ErrorCode::invalid_argument);
  CHECK(pending(ben) == Totals{40, 400});
  check_sums();
}

TEST_CASE_FIXTURE(Fixture, "what is voided is a computer's pending credit from a round on, once") {
  decide_to(6);  // rounds 3, 4 and 5 are pending
  const CorrectionOutcome done = take_back(1, ada, 4);
  CHECK(done.lines == 2);
  CHECK(done.taken_back == Totals{20, 200});
  CHECK(pending(ada) == Totals{40, 400});
  CHECK(pending(ben) == Totals{30, 300});
  CHECK(stores.credit.standings.pending(Holder::team, poets).value() == Totals{40, 400});
  check_sums();
  const std::int64_t newest = stores.credit.corrections.newest_reversal().value();
  CHECK(newest > 0);
  CHECK(take_back(1, ada, 4).lines == 0);
  CHECK(stores.credit.corrections.newest_reversal().value() == newest);
  CHECK(raw().query_int("SELECT count(*) FROM correction").value() == 1);
  CHECK(take_back(1, ada, 0).lines == 1);  // round 3: what is final stays, however early the lie began
  check_sums();
  decide(6);
  CHECK(pending(ada) == Totals{40, 400});  // its round 6, and those of the other computer from round 4 on
  CHECK(stores.credit.standings.credited("r")->totals == Totals{180, 1800});
  check_sums();
}

TEST_CASE_FIXTURE(Fixture, "an operator may take back what is final, and what is pending goes as well") {
  decide_to(6);
  CorrectionRequest request;
  request.account_id = ada;
  request.run_id = "r";
  request.reason = "a test";
  CHECK(stores.credit.corrections.correct(request)->lines == 12);
  CHECK(pending(ada) == kNothing);
  CHECK(stores.credit.standings.credited("r")->pending == Totals{30, 300});
  check_sums();
}

TEST_CASE_FIXTURE(Fixture, "a rollback that keeps credit leaves it pending, and one that reverses it leaves none") {
  decide_to(6);
  REQUIRE(stores.training.checkpoints.keep({"r", 4, digest(4), digest(5), 7, peer(1), {9}}, 0).ok());
  REQUIRE(stores.training.runs.roll_back({"r", 4, {5000}}).ok());
  CHECK(pending(ben) == Totals{30, 300});
  check_sums();
  const auto concerned = stores.credit.corrections.concerned("r", 4, 6).value();
  for (const VolunteerTotals& account : concerned) {
    CorrectionRequest request;
    request.account_id = account.account_id;
    request.run_id = "r";
    request.round_min = 4;
    request.round_max = 6;
    request.reason = "a rollback";
    REQUIRE(stores.credit.corrections.correct(request).ok());
  }
  CHECK(pending(ben) == Totals{10, 100});  // round 3, which the run went through
  check_sums();
  RoundResult next = result("r", 7, kWait);
  next.rollbacks = 1;
  REQUIRE(stores.training.contributions.append(next).ok());
  CHECK(stores.training.runs.find("r")->final_below == 5);
  CHECK(pending(ben) == Totals{10, 100});  // round 7
  check_sums();
}

TEST_CASE_FIXTURE(Fixture, "nothing stays pending in a run that is over, also of a round that is stored late") {
  decide_to(6);
  REQUIRE(stores.training.runs.set_state("r", RunState::paused).ok());
  CHECK(pending(ben) == Totals{30, 300});
  REQUIRE(stores.training.runs.set_state("r", RunState::complete).ok());
  CHECK(pending(ben) == kNothing);
  check_sums();
  decide(6);
  CHECK(pending(ben) == kNothing);
  check_sums();
  create_run(stores, "s");
  decide(0, kWait, "s");
  CHECK(pending(ben) == Totals{10, 100});
  REQUIRE(stores.training.runs.retire("s", {9000}).ok());
  CHECK(pending(ben) == kNothing);
  CHECK(raw().query_int("SELECT count(*) FROM pending").value() == 0);
  check_sums();
}

TEST_CASE_FIXTURE(Fixture, "who deletes an account leaves its pending credit to the sums") {
  decide_to(2);
  REQUIRE(stores.people.keeper.erase(ben, {9000}).ok());
  CHECK(pending(ben) == Totals{20, 200});
  check_sums();
}

TEST_CASE_FIXTURE(Fixture, "each sum that somebody changes by hand is found and named") {
  decide_to(6);
  const struct {
    std::string change;
    std::string undo;
    std::string named;
  } changes[] = {
      {"UPDATE pending SET credit = credit + 1 WHERE kind = 0", "UPDATE pending SET credit = credit - 1 WHERE kind = 0",
       "pending tally 0 of"},
      {"UPDATE pending SET samples = samples - 1 WHERE kind = 1",
       "UPDATE pending SET samples = samples + 1 WHERE kind = 1", "pending tally 1 of"},
      {"UPDATE pending SET holder = holder + 90 WHERE kind = 2",
       "UPDATE pending SET holder = holder - 90 WHERE kind = 2", "pending tally 2 of"},
      {"UPDATE tally_run SET credit = credit + 1 WHERE kind = 1",
       "UPDATE tally_run SET credit = credit - 1 WHERE kind = 1", "tally 1 of"},
      {"UPDATE tally SET credit = credit + 1 WHERE kind = 2", "UPDATE tally SET credit = credit - 1 WHERE kind = 2",
       "tally 2 of"},
      {"UPDATE run SET credit = credit + 1 WHERE run_id = 'r'", "UPDATE run SET credit = credit - 1 WHERE run_id = 'r'",
       "run r"},
      {"UPDATE tally_day SET samples = samples + 1 WHERE kind = 0",
       "UPDATE tally_day SET samples = samples - 1 WHERE kind = 0", "on day"},
      {"UPDATE team_volunteer SET samples = samples + 1", "UPDATE team_volunteer SET samples = samples - 1",
       "for team"},
  };
  for (const auto& [change, undo, named] : changes) {
    CAPTURE(change);
    REQUIRE(raw().execute(change).ok());
    const Status broken = stores.training.contributions.verify_totals();
    REQUIRE_FALSE(broken.ok());
    CHECK_MESSAGE(broken.error().message.find(named) != std::string::npos, broken.error().message);
    REQUIRE(raw().execute(undo).ok());
    check_sums();
  }
}

TEST_CASE_FIXTURE(Fixture, "whatever comes in whatever order, the sums follow from the ledger") {
  constexpr unsigned kSeed = 20261128;
  CAPTURE(kSeed);
  std::mt19937 random(kSeed);
  const auto any = [&](int end) { return std::uniform_int_distribution<int>(0, end - 1)(random); };
  RoundIndex round = 0;
  for (int step = 0; step < 150; ++step) {
    CAPTURE(step);
    const int what = any(10);
    if (what < 6) {
      RoundResult decided = result("r", round, kWait);
      decided.contributions.resize(1 + static_cast<std::size_t>(any(3)));
      if (any(4) == 0) decided.final_below = round + any(4) - 6;
      REQUIRE(stores.training.contributions.append(decided).ok());
      if (any(5) != 0) ++round;
    } else if (what < 9) {
      const int who = any(3);
      take_back(static_cast<std::uint8_t>(who + 1), who == 2 ? ben : ada, std::max<RoundIndex>(0, round - any(8)));
    } else {
      CorrectionRequest request;
      request.account_id = ben;
      request.round_min = any(static_cast<int>(round) + 1);
      request.round_max = request.round_min + 1;
      request.reason = "a test";
      REQUIRE(stores.credit.corrections.correct(request).ok());
    }
    REQUIRE(stores.training.contributions.verify_totals().ok());
  }
  CHECK(stores.training.runs.find("r")->final_below.value() > 20);
  check_sums();
}

TEST_SUITE_END();
