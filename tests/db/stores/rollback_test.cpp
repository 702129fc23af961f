// Taking a run back to an earlier state, as the stores do it.
#include "db/stores/run_epochs.h"
#include "tests/db/stores/fixture.h"

using namespace starling;
using namespace starling::db;
using namespace starling::db::testing;
using starling::testing::TempDir;

namespace {

// A run with six rounds by two people, copies of the states of rounds 2 and 4, and samples of an epoch.
struct Fixture {
  TempDir dir;
  std::unique_ptr<Database> database = open(dir / "a.db");
  const Stores& stores = database->stores();
  AccountId ada = join(stores, "Ada", 1);
  AccountId ben = join(stores, "Ben", 2);

  Fixture() {
    create_run(stores, "r");
    REQUIRE(stores.training.leases.add("r", 100, {{peer(1), 1, 7, 0, 0, 60, 50}}).ok());
    for (RoundIndex round = 0; round < 6; ++round) {
      RoundResult result = round_of("r", round, {{peer(1), ada, 10, 1000, {3000 + round}}});
      if (round == 3) result.contributions.push_back({peer(2), ben, 5, 500, {3000 + round}});
      result.record.state_digest = digest(static_cast<std::uint8_t>(101 + round));
      result.counted = {{peer(1), 0, round * 10, 10}};
      REQUIRE(stores.training.contributions.append(result).ok());
    }
    for (const std::uint8_t round : {2, 4}) {
      const Digest state = digest(static_cast<std::uint8_t>(100 + round));
      REQUIRE(stores.training.checkpoints.keep({"r", round, state, digest(round), 7, peer(1), {9}}, 0).ok());
    }
    REQUIRE(stores.training.electorates.add("r", {digest_id(1), 6}, 0).ok());
  }
  static GroupId digest_id(std::uint8_t number) {
    GroupId id;
    id.bytes.fill(number);
    return id;
  }
  [[nodiscard]] RoundIndex round() const { return stores.training.runs.find("r")->round; }
};

}  // namespace

TEST_SUITE_BEGIN("stores");

TEST_CASE_FIXTURE(Fixture, "a run that is rolled back goes on in the next round, with the copy as its newest state") {
  const Totals before = stores.training.contributions.ledger_sum("r").value();
  const Rollback done = stores.training.runs.roll_back({"r", 2, {5000}}).value();
  CHECK(done.round == 6);
  CHECK(done.to_round == 2);
  CHECK(done.state_digest == digest(102));
  CHECK(round() == 7);
  CHECK(stores.training.runs.find("r")->rollbacks == 1);
  const KeptCheckpoint newest = stores.training.checkpoints.newest("r").value().value();
  CHECK(newest.round == 7);
  CHECK(newest.state_digest == digest(102));
  CHECK(newest.artefact == digest(2));
  CHECK(stores.training.checkpoints.list()->size() == 3);  // the operator may still go to the state of round 4
  const auto rollbacks = stores.training.runs.rollbacks("r").value();
  REQUIRE(rollbacks.size() == 1);
  CHECK(rollbacks[0].round == 6);
  CHECK(rollbacks[0].state_digest == digest(102));
  CHECK(rollbacks[0].at == WallTime{5000});
  CHECK(rollbacks[0].gives_up(2));
  CHECK(rollbacks[0].gives_up(6));
  CHECK_FALSE(rollbacks[0].gives_up(1));
  CHECK_FALSE(rollbacks[0].gives_up(7));
  CHECK(stores.training.contributions.ledger_sum("r").value() == before);
  CHECK(stores.training.electorates.list("r")->empty());
  CHECK(stores.training.contributions.verify_totals().ok());
}

TEST_CASE_FIXTURE(Fixture, "samples of rounds that are given up are free again") {
  CHECK(run_epochs(stores.training.leases, "r").value()->current->counted == 60);
  REQUIRE(stores.training.runs.roll_back({"r", 4, {5000}}).ok());
  CHECK(run_epochs(stores.training.leases, "r").value()->current->counted == 40);
  CHECK(stores.training.leases.counted("r", 0)->size() == 4);
  CHECK(stores.training.contributions.verify_totals().ok());
}

TEST_CASE_FIXTURE(Fixture, "a writer that has not heard of a rollback is refused, and one that has is not") {
  REQUIRE(stores.training.runs.roll_back({"r", 2, {5000}}).ok());
  RoundResult late = round_of("r", 6, {{peer(1), ada, 10, 1000, {6000}}});
  CHECK(stores.training.contributions.append(late).error().code == ErrorCode::failed_precondition);
  CHECK(stores.training.contributions.of_round("r", 6)->empty());
  CHECK(stores.training.electorates.add("r", {digest_id(2), 7}, 0).error().code == ErrorCode::failed_precondition);
  const KeptCheckpoint copy{"r", 8, digest(108), digest(8), 7, peer(1), {9}};
  CHECK(stores.training.checkpoints.keep(copy, 0).error().code == ErrorCode::failed_precondition);
  CHECK(stores.training.checkpoints.newest("r").value()->round == 7);

  RoundResult next = round_of("r", 7, {{peer(1), ada, 10, 1000, {6000}}});
  next.rollbacks = 1;
  CHECK(stores.training.contributions.append(next)->inserted == 1);
  CHECK(stores.training.electorates.add("r", {digest_id(2), 8}, 1).ok());
  CHECK(stores.training.checkpoints.keep(copy, 1).ok());
  CHECK(round() == 8);
}

TEST_CASE_FIXTURE(Fixture, "a run does not go back to a state that is not kept, nor on, and nothing changes") {
  CHECK(stores.training.runs.roll_back({"r", 3, {5000}}).error().code == ErrorCode::not_found);
  CHECK(stores.training.runs.roll_back({"r", 6, {5000}}).error().code == ErrorCode::invalid_argument);
  CHECK(stores.training.runs.roll_back({"no run", 2, {5000}}).error().code == ErrorCode::not_found);
  CHECK(round() == 6);
  CHECK(stores.training.runs.rollbacks("r")->empty());
  CHECK(stores.training.checkpoints.newest("r").value()->round == 4);
  CHECK(stores.training.electorates.list("r")->size() == 1);
  REQUIRE(stores.training.runs.set_state("r", RunState::complete).ok());
  CHECK(stores.training.runs.roll_back({"r", 2, {5000}}).error().code == ErrorCode::failed_precondition);
}

TEST_CASE_FIXTURE(Fixture, "a run may go back again, also to a state that was given up before") {
  REQUIRE(stores.training.runs.roll_back({"r", 2, {5000}}).ok());
  const Rollback again = stores.training.runs.roll_back({"r", 4, {6000}}).value();
  CHECK(again.round == 7);
  CHECK(again.state_digest == digest(104));
  CHECK(round() == 8);
  CHECK(stores.training.checkpoints.newest("r").value()->state_digest == digest(104));
}

TEST_CASE_FIXTURE(Fixture, "a copy of a round that the store has not heard of does not get in the way") {
  REQUIRE(stores.training.checkpoints.keep({"r", 9, digest(109), digest(9), 7, peer(1), {9}}, 0).ok());
  const Rollback done = stores.training.runs.roll_back({"r", 2, {5000}}).value();
  CHECK(done.round == 9);
  CHECK(stores.training.checkpoints.newest("r").value()->round == 10);
  CHECK(stores.training.checkpoints.newest("r").value()->state_digest == digest(102));
}

TEST_CASE_FIXTURE(Fixture, "the accounts with credit in some rounds are told with their sums, until it is reversed") {
  const auto all = stores.credit.corrections.concerned("r", 2, 6).value();
  REQUIRE(all.size() == 2);
  CHECK(all[0].display_name == "Ada");
  CHECK(all[0].totals == Totals{40, 4000});
  CHECK(all[1].account_id == ben);
  CHECK(all[1].totals == Totals{5, 500});
  CHECK(stores.credit.corrections.concerned("r", 4, 6)->size() == 1);
  CHECK(stores.credit.corrections.concerned("none", 0, 6)->empty());
  CorrectionRequest request;
  request.account_id = ben;
  request.run_id = "r";
  request.reason = "a test";
  REQUIRE(stores.credit.corrections.correct(request).ok());
  CHECK(stores.credit.corrections.concerned("r", 2, 6)->size() == 1);
}

TEST_SUITE_END();
