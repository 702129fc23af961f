#include "db/stores/stores.h"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <future>
#include <limits>

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

  Result<AccountId> join_with(const std::string& name, std::uint8_t number, std::uint8_t invite, std::int64_t now) {
    return stores.people.accounts.join({name, peer(number), digest(invite), {now}});
  }
  std::int64_t uses(std::uint8_t invite) { return stores.people.invites.find(digest(invite)).value().uses; }
};

}  // namespace

TEST_SUITE_BEGIN("stores");

TEST_CASE_FIXTURE(Fixture, "joining creates account and host and spends the invite") {
  REQUIRE(stores.people.invites.add({digest(9), {0}, {5000}, 2, 0}).ok());
  const AccountId account = join_with("Ada", 1, 9, 1000).value();
  CHECK(stores.people.accounts.find_account(account)->display_name == "Ada");
  const Host host = stores.people.accounts.find_host(peer(1)).value();
  CHECK(host.account_id == account);
  CHECK(host.last_seen.unix_ms == 1000);
  CHECK_FALSE(host.revoked);
  CHECK(stores.people.accounts.hosts_of(account)->size() == 1);
  CHECK(uses(9) == 1);
}

TEST_CASE_FIXTURE(Fixture, "a host that asks again gets its account and spends nothing") {
  REQUIRE(stores.people.invites.add({digest(9), {0}, {5000}, 1, 0}).ok());
  const AccountId account = join_with("Ada", 1, 9, 1000).value();
  CHECK(join_with("Ada", 1, 9, 9000).value() == account);
  CHECK(uses(9) == 1);
}

TEST_CASE_FIXTURE(Fixture,
                  "an account has as many computers as it may, and those that its owner took out do not count") {
  const AccountId ada = join(stores, "Ada", 1);
  const auto link = [&](std::uint8_t number, std::int64_t most = 2) {
    return stores.people.accounts.join({.display_name = "",
                                        .peer_id = peer(number),
                                        .invite = {},
                                        .now = {1000},
                                        .account_id = ada,
                                        .hosts_max = most});
  };
  REQUIRE(link(2).ok());
  const auto third = link(3);
  REQUIRE_FALSE(third.ok());
  CHECK(third.error().code == ErrorCode::permission_denied);
  CHECK_MESSAGE(third.error().message.find("2 are the most here") != std::string::npos, third.error().message);
  CHECK(link(1).value() == ada);  // it is one of them already
  REQUIRE(stores.people.accounts.set_revoked(peer(2), true, Revoker::owner).ok());
  REQUIRE(link(3).ok());
  CHECK(stores.people.accounts.set_revoked(peer(2), false, Revoker::owner, 2).error().code ==
        ErrorCode::permission_denied);
  REQUIRE(stores.people.accounts.set_revoked(peer(3), true, Revoker::project).ok());
  CHECK_FALSE(link(4).ok());  // the project's doing: it counts
  REQUIRE(stores.people.keeper.set_hosts_max(ada, 4).ok());
  CHECK(stores.people.accounts.find_account(ada)->hosts_max == 4);
  CHECK(link(4).ok());
  REQUIRE(stores.people.keeper.set_hosts_max(ada, std::nullopt).ok());
  CHECK_FALSE(link(5).ok());
  CHECK(stores.people.accounts.hosts_of(ada)->size() == 4);  // those that it has stay
  CHECK(link(5, 0).ok());
}

TEST_CASE_FIXTURE(Fixture, "everybody without a name is one account with any number of computers") {
  for (std::uint8_t number = 1; number <= 12; ++number) {
    CHECK(stores.people.accounts
              .join({.display_name = "",
                     .peer_id = peer(number),
                     .invite = {},
                     .now = {1000},
                     .state = AccountState::anonymous,
                     .hosts_max = 8})
              .ok());
  }
}

TEST_CASE_FIXTURE(Fixture, "owners take back only what was their own doing") {
  join(stores, "Ada", 1);
  const auto set = [&](bool revoked, Revoker by) { return stores.people.accounts.set_revoked(peer(1), revoked, by); };
  REQUIRE(set(true, Revoker::owner).ok());
  CHECK(stores.people.accounts.find_host(peer(1))->revoked_by == Revoker::owner);
  REQUIRE(set(false, Revoker::owner).ok());
  REQUIRE(set(true, Revoker::project).ok());
  REQUIRE(set(true, Revoker::owner).ok());  // it stays the project's
  CHECK(set(false, Revoker::owner).error().code == ErrorCode::permission_denied);
  CHECK(stores.people.accounts.find_host(peer(1))->revoked);
  REQUIRE(set(false, Revoker::project).ok());
  CHECK_FALSE(stores.people.accounts.find_host(peer(1))->revoked);
}

TEST_CASE_FIXTURE(Fixture,
                  "an account is established after ten confirmed rounds, or when the operator vouches for it") {
  const AccountId ada = join(stores, "Ada", 1);
  const AccountId ben = join(stores, "Ben", 2);
  create_run(stores, "r");
  const auto count = [&](RoundIndex round) {
    RoundResult result = round_of("r", round, {});
    result.confirmed = {ada};
    REQUIRE(stores.training.contributions.append(result).ok());
  };
  for (RoundIndex round = 0; round < kConfirmedEnough - 1; ++round) count(round);
  count(0);  // a round that is stored again counts once
  CHECK_FALSE(stores.people.accounts.find_account(ada)->established());
  CHECK(stores.people.accounts.established(5).value() == 0);
  for (RoundIndex round = 100; round < 103; ++round) count(round);
  CHECK(stores.people.accounts.find_account(ada)->confirmed == kConfirmedEnough);
  CHECK(stores.people.accounts.find_account(ada)->established());
  REQUIRE(stores.people.keeper.set_vouched(ben, true).ok());
  CHECK(stores.people.accounts.find_account(ben)->established());
  CHECK(stores.people.accounts.established(5).value() == 2);
  CHECK(stores.people.accounts.established(1).value() == 1);
  REQUIRE(stores.people.keeper.set_vouched(ben, false).ok());
  CHECK(stores.people.accounts.established(5).value() == 1);
  REQUIRE(stores.people.accounts.restart_probation(ada).ok());
  CHECK(stores.people.accounts.find_account(ada)->confirmed == 0);
  CHECK(stores.people.accounts.established(5).value() == 0);
  REQUIRE(stores.people.keeper.set_vouched(ada, true).ok());
  REQUIRE(stores.people.accounts.restart_probation(ada).ok());
  CHECK(stores.people.accounts.find_account(ada)->established());
}

TEST_CASE_FIXTURE(Fixture, "an operator's own account decides checks and has a say, and any account can be watched") {
  const AccountId ada = join(stores, "Ada", 1);
  const auto found = [&] { return stores.people.accounts.find_account(ada).value(); };
  CHECK_FALSE(found().auditor);
  REQUIRE(stores.people.keeper.set_auditor(ada, true).ok());
  CHECK(found().auditor);
  CHECK(found().established());
  CHECK(stores.people.accounts.established(5).value() == 1);
  REQUIRE(stores.people.keeper.set_auditor(ada, false).ok());
  CHECK_FALSE(found().auditor);
  CHECK(found().established());
  CHECK(found().watched_until == WallTime{0});
  REQUIRE(stores.people.keeper.watch(ada, {7000}).ok());
  CHECK(found().watched_until == WallTime{7000});
  CHECK(stores.people.keeper.watch(ada + 9, {7000}).error().code == ErrorCode::not_found);
  CHECK(stores.people.keeper.set_auditor(ada + 9, true).error().code == ErrorCode::not_found);
}

TEST_CASE_FIXTURE(Fixture, "a wrong, expired, withdrawn or used up invite opens nothing") {
  REQUIRE(stores.people.invites.add({digest(9), {0}, {5000}, 1, 0}).ok());
  REQUIRE(stores.people.invites.add({digest(8), {0}, {5000}, 1, 0}).ok());
  REQUIRE(stores.people.invites.withdraw(digest(8), {900}).ok());
  CHECK(join_with("Ada", 1, 7, 1000).error().code == ErrorCode::unauthenticated);
  CHECK(join_with("Ada", 1, 9, 5000).error().code == ErrorCode::permission_denied);
  CHECK(join_with("Ada", 1, 8, 1000).error().code == ErrorCode::permission_denied);
  REQUIRE(join_with("Ada", 1, 9, 1000).ok());
  CHECK(join_with("Ben", 2, 9, 1000).error().code == ErrorCode::permission_denied);
  CHECK(stores.people.accounts.find_host(peer(2)).error().code == ErrorCode::not_found);
}

TEST_CASE_FIXTURE(Fixture, "a taken name is refused whatever its case, and the invite is kept") {
  REQUIRE(stores.people.invites.add({digest(9), {0}, {5000}, 2, 0}).ok());
  REQUIRE(join_with("Ada", 1, 9, 1000).ok());
  CHECK(join_with("aDA", 2, 9, 1000).error().code == ErrorCode::already_exists);
  CHECK(uses(9) == 1);
}

TEST_CASE_FIXTURE(Fixture, "many at once never spend an invite more often than it allows") {
  REQUIRE(stores.people.invites.add({digest(9), {0}, {5000}, 3, 0}).ok());
  std::vector<std::future<Result<AccountId>>> joining;
  for (int i = 0; i < 16; ++i) {
    joining.push_back(std::async(std::launch::async, [this, i] {
      return join_with("volunteer " + std::to_string(i), static_cast<std::uint8_t>(i), 9, 1000);
    }));
  }
  int joined = 0;
  for (auto& future : joining) joined += future.get().ok() ? 1 : 0;
  CHECK(joined == 3);
  CHECK(uses(9) == 3);
}

TEST_CASE_FIXTURE(Fixture, "a revoked host can not join again until it is forgiven") {
  const AccountId account = join(stores, "Ada", 1);
  REQUIRE(stores.people.accounts.set_revoked(peer(1), true, Revoker::project).ok());
  CHECK(stores.people.accounts.find_host(peer(1))->revoked);
  CHECK(stores.people.accounts.join({"Ada", peer(1), {}, {2000}}).error().code == ErrorCode::permission_denied);
  REQUIRE(stores.people.accounts.set_revoked(peer(1), false, Revoker::project).ok());
  CHECK(stores.people.accounts.join({"Ada", peer(1), {}, {2000}}).value() == account);
  CHECK(stores.people.accounts.set_revoked(peer(2), true, Revoker::project).error().code == ErrorCode::not_found);
}

TEST_CASE_FIXTURE(Fixture, "a host's last visit is kept to the minute") {
  join(stores, "Ada", 1);
  REQUIRE(stores.people.accounts.touch_host(peer(1), {100'000}).ok());
  REQUIRE(stores.people.accounts.touch_host(peer(1), {110'000}).ok());  // less than a minute later: not written
  create_run(stores, "after");                                          // a write that waits for the previous ones
  CHECK(stores.people.accounts.find_host(peer(1))->last_seen.unix_ms == 100'000);
  REQUIRE(stores.people.accounts.touch_host(peer(1), {160'000}).ok());
  create_run(stores, "later");
  CHECK(stores.people.accounts.find_host(peer(1))->last_seen.unix_ms == 160'000);
}

TEST_CASE_FIXTURE(Fixture, "runs are created once, found, and change their state") {
  create_run(stores, "r");
  CHECK(stores.training.runs.create({"r", "other", RunState::paused, {1}, 0}).error().code ==
        ErrorCode::already_exists);
  CHECK(stores.training.runs.find("r")->manifest_envelope == "envelope");
  REQUIRE(stores.training.runs.set_state("r", RunState::complete).ok());
  CHECK(stores.training.runs.find("r")->state == RunState::complete);
  CHECK(stores.training.runs.find("s").error().code == ErrorCode::not_found);
  CHECK(stores.training.runs.set_state("s", RunState::paused).error().code == ErrorCode::not_found);
  CHECK(stores.training.runs.list()->size() == 1);
}

TEST_CASE_FIXTURE(Fixture, "a round's result reaches ledger, totals and the run's counter together") {
  const AccountId ada = join(stores, "Ada", 1);
  const AccountId ben = join(stores, "Ben", 2);
  create_run(stores, "r");
  const auto outcome = stores.training.contributions.append(
      round_of("r", 4, {{peer(1), ada, 10, 1000, {2004}}, {peer(2), ben, 20, 2000, {2004}}}));
  CHECK(outcome->inserted == 2);
  CHECK(stores.training.runs.find("r")->round == 5);
  CHECK(stores.training.runs.rounds("r", {})->front().samples == 30);
  CHECK(stores.training.contributions.ledger_sum("r").value() == Totals{30, 3000});
  CHECK(stores.credit.standings.credited("r")->totals == Totals{30, 3000});
  CHECK(stores.training.contributions.entries_of(ben, {})->front().contribution.samples == 20);
  CHECK(stores.training.contributions.verify_totals().ok());
}

TEST_CASE_FIXTURE(Fixture, "a result that comes twice counts once, and a late member is still added") {
  const AccountId ada = join(stores, "Ada", 1);
  const AccountId ben = join(stores, "Ben", 2);
  create_run(stores, "r");
  const Contribution first{peer(1), ada, 10, 1000, {2000}};
  REQUIRE(stores.training.contributions.append(round_of("r", 0, {first})).ok());
  const auto again = stores.training.contributions.append(
      round_of("r", 0, {{peer(1), ada, 99, 9900, {2000}}, {peer(2), ben, 5, 500, {2000}}}));
  CHECK(again->inserted == 1);
  CHECK(again->duplicates == 1);
  CHECK(stores.training.contributions.ledger_sum("r").value() == Totals{15, 1500});
  CHECK(stores.training.contributions.verify_totals().ok());
  CHECK(stores.training.runs.rounds("r", {})->size() == 1);
}

TEST_CASE_FIXTURE(Fixture, "a result with one impossible line is refused as a whole") {
  const AccountId ada = join(stores, "Ada", 1);
  create_run(stores, "r");
  const Contribution good{peer(1), ada, 10, 1000, {2000}};
  const std::vector<Contribution> impossible = {
      {peer(2), ada, -1, 0, {2000}},             // negative
      {peer(3), ada, 1, 0, {2000}},              // a host that never joined
      {peer(1), ada + 7, 1, 0, {2000}},          // an account that does not exist
      {peer(1), ada, 2'000'000'000, 0, {2000}},  // more than any computer computes in a round
  };
  for (const Contribution& line : impossible) {
    CAPTURE(line.samples);
    CHECK_FALSE(stores.training.contributions.append(round_of("r", 1, {line, good})).ok());
  }
  RoundResult not_a_number = round_of("r", 1, {good});
  not_a_number.record.loss = std::nan("");
  CHECK_FALSE(stores.training.contributions.append(not_a_number).ok());
  CHECK_FALSE(stores.training.contributions.append(round_of("no such run", 1, {good})).ok());
  CHECK(stores.training.contributions.ledger_sum("r").value() == Totals{0, 0});
  CHECK(stores.training.runs.find("r")->round == 0);
}

TEST_CASE_FIXTURE(Fixture, "the counter of a run never goes back") {
  create_run(stores, "r");
  REQUIRE(stores.training.contributions.append(round_of("r", 7, {})).ok());
  REQUIRE(stores.training.contributions.append(round_of("r", 3, {})).ok());
  CHECK(stores.training.runs.find("r")->round == 8);
}

TEST_CASE_FIXTURE(Fixture, "an asynchronous result says what happened, once, after the commit") {
  const AccountId ada = join(stores, "Ada", 1);
  create_run(stores, "r");
  std::promise<Result<AppendOutcome>> done;
  REQUIRE(stores.training.contributions
              .append_async(round_of("r", 0, {{peer(1), ada, 10, 1000, {2000}}}),
                            [&](Result<AppendOutcome> outcome) { done.set_value(std::move(outcome)); })
              .ok());
  CHECK(done.get_future().get()->inserted == 1);
  CHECK(stores.training.contributions.ledger_sum("r")->samples == 10);
}

TEST_CASE_FIXTURE(Fixture, "the leaderboard is ordered by credit, for one run and over all") {
  const AccountId ada = join(stores, "Ada", 1);
  const AccountId ben = join(stores, "Ben", 2);
  const AccountId eve = join(stores, "Eve", 3);
  create_run(stores, "r");
  create_run(stores, "s");
  REQUIRE(stores.training.contributions
              .append(round_of("r", 0, {{peer(1), ada, 10, 100, {50}}, {peer(2), ben, 10, 300, {60}}}))
              .ok());
  REQUIRE(stores.training.contributions
              .append(round_of("s", 0, {{peer(1), ada, 10, 250, {70}}, {peer(3), eve, 20, 300, {80}}}))
              .ok());
  const auto in_run = stores.credit.standings.volunteers_of("r", {}).value();
  REQUIRE(in_run.size() == 2);
  CHECK(in_run[0].display_name == "Ben");
  CHECK(in_run[1].account_id == ada);
  CHECK(in_run[1].totals == Totals{10, 100});
  CHECK(stores.credit.standings.volunteers_of("r", {.limit = 1, .offset = 1})->front().account_id == ada);
  const auto overall = stores.credit.standings.page({.board = Board::total}).value().rows;
  REQUIRE(overall.size() == 3);
  CHECK(overall[0].holder_id == ada);
  CHECK(overall[0].earned(Board::total) == Totals{20, 350});
  CHECK(overall[0].last_contribution.unix_ms == 70);
  CHECK(overall[1].holder_id == eve);  // equal credit to Ben's, but more samples
  CHECK(overall[2].holder_id == ben);
  CHECK(stores.credit.standings.credited("")->totals == Totals{50, 950});
  CHECK(stores.credit.standings.credited("")->volunteers == 3);
  CHECK(stores.credit.standings.credited("r")->volunteers == 2);
  CHECK(stores.credit.standings.credited("t").error().code == ErrorCode::not_found);
  REQUIRE(stores.credit.corrections.correct({.account_id = ben, .reason = "x", .now = {}}).ok());
  CHECK(stores.credit.standings.volunteers_of("r", {})->back().account_id == ben);  // with nothing left
  CHECK(stores.credit.standings.credited("r")->volunteers == 2);
}

TEST_CASE_FIXTURE(Fixture, "evaluations keep one figure a round and peer, and those of a round are read as one") {
  create_run(stores, "r");
  CHECK_FALSE(stores.training.evaluations.first("r")->has_value());
  for (const RoundIndex round : {5, 1, 9}) {
    REQUIRE(
        stores.training.evaluations.add({"r", round, 10.0 - static_cast<double>(round), 2, 100, {1}}, peer(1)).ok());
  }
  REQUIRE(stores.training.evaluations.add({"r", 9, 0.1, 2, 100, {1}}, peer(1)).ok());
  CHECK(stores.training.evaluations.first("r").value()->round == 1);
  CHECK(stores.training.evaluations.latest("r").value()->bits_per_byte == 1.0);
  CHECK_FALSE(stores.training.evaluations.latest("r").value()->confirmed());
  CHECK_FALSE(stores.training.evaluations.latest("r").value()->accuracy);
  REQUIRE(stores.training.evaluations.add({"r", 9, 1.5, 2, 100, {1}, 0.25}, peer(2)).ok());
  CHECK(stores.training.evaluations.latest("r").value()->accuracy == 0.25);
  CHECK(stores.training.evaluations.latest("r").value()->bits_per_byte == 1.25);
  CHECK(stores.training.evaluations.latest("r").value()->measured_by == 2);
  CHECK(stores.training.evaluations.latest("r").value()->confirmed());
  CHECK(stores.training.evaluations.list("r", {})->size() == 3);
  const double infinite = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(stores.training.evaluations.add({"r", 10, infinite, 2, 100, {1}}, peer(1)).ok());
}

TEST_CASE_FIXTURE(Fixture, "claims that nobody confirmed are kept for ninety days, one of a computer a round") {
  const AccountId ada = join(stores, "Ada", 1);
  create_run(stores, "r");
  const WallTime now{1'700'000'000'000};
  const UnconfirmedClaim claim{"r", 7, peer(1), ada, 40, now};
  REQUIRE(stores.credit.claims.add(claim).ok());
  UnconfirmedClaim again = claim;
  again.samples = 9;
  REQUIRE(stores.credit.claims.add(again).ok());
  UnconfirmedClaim next = claim;
  next.round = 8;
  next.at.unix_ms += 1000;
  REQUIRE(stores.credit.claims.add(next).ok());
  CHECK(stores.credit.claims.of(ada)->claims == 2);
  CHECK(stores.credit.claims.of(ada)->samples == 80);
  const auto listed = stores.credit.claims.list({.limit = 1}).value();
  REQUIRE(listed.size() == 1);
  CHECK(listed[0].round == 8);
  CHECK(listed[0].peer_id == peer(1));
  CHECK(listed[0].run_id == "r");
  CHECK(stores.training.contributions.ledger_sum("r")->samples == 0);
  UnconfirmedClaim much_later = claim;
  much_later.round = 9;
  much_later.at.unix_ms = now.unix_ms + kClaimsKeptMs + 500;
  REQUIRE(stores.credit.claims.add(much_later).ok());
  CHECK(stores.credit.claims.of(ada)->claims == 2);
}

TEST_CASE_FIXTURE(Fixture, "a lane has one holder, a peer one lane, and both survive a restart") {
  create_run(stores, "r");
  REQUIRE(stores.training.lanes.assign("r", {{peer(1), 0, {1}}, {peer(2), 1, {1}}}).ok());
  REQUIRE(stores.training.lanes.assign("r", {{peer(2), 2, {2}}, {peer(3), 0, {3}}}).ok());
  CHECK_FALSE(stores.training.lanes.assign("r", {{peer(4), 4, {4}}, {peer(5), -1, {4}}}).ok());
  database.reset();
  database = open(dir / "a.db");
  const auto lanes = database->stores().training.lanes.list("r").value();
  REQUIRE(lanes.size() == 2);
  CHECK(lanes[0].peer_id == peer(3));
  CHECK(lanes[0].lane == 0);
  CHECK(lanes[1].peer_id == peer(2));
  CHECK(lanes[1].lane == 2);
}

TEST_CASE_FIXTURE(Fixture, "artefacts are found by digest") {
  REQUIRE(stores.training.artefacts.add({digest(1), 10, "train.txt"}).ok());
  REQUIRE(stores.training.artefacts.add({digest(1), 10, "train.txt"}).ok());
  CHECK(stores.training.artefacts.find(digest(1))->name == "train.txt");
  CHECK(stores.training.artefacts.find(digest(2)).error().code == ErrorCode::not_found);
  CHECK(stores.training.artefacts.list()->size() == 1);
}

TEST_CASE_FIXTURE(Fixture, "a copy of a run's state goes with its file, unless another copy has the file, too") {
  create_run(stores, "one");
  CHECK_FALSE(stores.training.checkpoints.newest("one").value().has_value());
  std::vector<KeptCheckpoint> copies;
  for (std::uint8_t round = 1; round <= 4; ++round) {
    const Digest artefact = digest(round == 4 ? 2 : round);  // the last reuses the second's file
    copies.push_back({"one", round, digest(static_cast<std::uint8_t>(100 + round)), artefact, 7, peer(1), {9}});
    REQUIRE(stores.training.checkpoints.keep(copies.back(), 0).ok());
  }
  const KeptCheckpoint newest = stores.training.checkpoints.newest("one").value().value();
  CHECK(newest.round == 4);
  CHECK(newest.state_digest == digest(104));
  CHECK(newest.artefact == digest(2));
  CHECK(newest.bytes == 7);
  CHECK(newest.peer_id == peer(1));
  CHECK_FALSE(stores.training.checkpoints.newest("two").value().has_value());

  CHECK(stores.training.checkpoints.remove({copies[0], copies[1]}).value() == std::vector<Digest>{digest(1)});
  CHECK(stores.training.checkpoints.remove({copies[0]}).value().empty());
  CHECK_FALSE(stores.training.artefacts.find(digest(1)).ok());
  CHECK(stores.training.artefacts.find(digest(2)).ok());
  CHECK(stores.training.artefacts.find(digest(3)).ok());
  const auto left = stores.training.checkpoints.list().value();
  REQUIRE(left.size() == 2);
  CHECK(left[0].round == 4);
  CHECK(left[1].round == 3);
}

TEST_CASE_FIXTURE(Fixture, "two processes may write to one file, in turn") {
  const auto second = open(dir / "a.db");
  create_run(stores, "r");
  REQUIRE(second->stores().training.runs.set_state("r", RunState::paused).ok());
  CHECK(stores.training.runs.find("r")->state == RunState::paused);
  CHECK(second->stores().training.runs.find("r")->state == RunState::paused);
}

TEST_SUITE_END();
