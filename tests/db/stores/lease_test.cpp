#include <doctest/doctest.h>

#include "db/stores/run_epochs.h"
#include "db/stores/stores.h"
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
  AccountId ada = join(stores, "Ada", 1);

  Fixture() { create_run(stores, "r"); }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "leases are kept until the round that ends them, and counted samples go with their lines") {
  const LeasedSamples first{peer(1), 1, 7, 0, 0, 8, 3};
  const LeasedSamples second{peer(1), 9, 7, 0, 8, 8, 5};
  REQUIRE(stores.training.leases.add("r", 100, {first, second}).ok());
  CHECK(stores.training.leases.add("r", 100, {first}).error().code == ErrorCode::already_exists);
  CHECK(stores.training.leases.held("r")->size() == 2);
  CHECK(stores.training.leases.next_epoch("r").value() == 1);
  RoundResult result = round_of("r", 3, {{peer(1), ada, 6, 0, {1}}});
  result.counted = {{peer(1), 0, 0, 6}};
  REQUIRE(stores.training.contributions.append(result).ok());
  REQUIRE(stores.training.contributions.append(result).ok());  // counts once
  const auto held = stores.training.leases.held("r").value();
  REQUIRE(held.size() == 1);
  CHECK(held[0].number == 9);
  CHECK(held[0].process == 7);
  CHECK(held[0].last_round == 5);
  const auto open_epochs = stores.training.leases.open_epochs("r").value();
  REQUIRE(open_epochs.size() == 1);
  CHECK(open_epochs[0].samples == 100);
  CHECK(open_epochs[0].counted == 6);
  const auto epochs = run_epochs(stores.training.leases, "r").value();
  REQUIRE(epochs);
  CHECK(epochs->complete == 0);
  REQUIRE(epochs->current);
  CHECK(epochs->current->counted == 6);
  const auto counted = stores.training.leases.counted("r", 0).value();
  REQUIRE(counted.size() == 1);
  CHECK(counted[0].peer == peer(1));
  CHECK(counted[0].count == 6);
  CHECK(stores.training.contributions.verify_totals().ok());
}

TEST_CASE_FIXTURE(Fixture, "an epoch whose last samples are set aside is complete, and they are listed") {
  REQUIRE(stores.training.leases.add("r", 8, {{peer(1), 1, 7, 0, 0, 8, 3}}).ok());
  RoundResult result = round_of("r", 0, {{peer(1), ada, 6, 0, {1}}});
  result.counted = {{peer(1), 0, 0, 5}, {peer(1), 0, 6, 1}};
  REQUIRE(stores.training.contributions.append(result).ok());
  REQUIRE(stores.training.leases.set_aside("r", {0, 5}).ok());
  REQUIRE(stores.training.leases.set_aside("r", {0, 5}).ok());  // counts once
  const auto open_epochs = stores.training.leases.open_epochs("r").value();
  REQUIRE(open_epochs.size() == 1);
  CHECK(open_epochs[0].counted == 6);
  CHECK(open_epochs[0].set_aside == 1);
  REQUIRE(stores.training.leases.set_aside("r", {0, 7}).ok());
  CHECK(stores.training.leases.open_epochs("r")->empty());
  const auto epochs = run_epochs(stores.training.leases, "r").value();
  REQUIRE(epochs);
  CHECK(epochs->complete == 1);
  CHECK(epochs->set_aside == 2);
  const auto samples = stores.training.leases.all_set_aside("r", {.limit = 1}).value();
  REQUIRE(samples.size() == 1);
  CHECK(samples[0].place == 5);
}

TEST_CASE_FIXTURE(Fixture, "tries are kept until their sample is set aside, or their epoch is over") {
  const std::vector<SampleTried> tries{{peer(1), ada, 0, 5, 3}, {peer(2), ada, 0, 5, 6}, {peer(1), ada, 1, 2, 6}};
  REQUIRE(stores.training.leases.add_tried("r", tries, 0).ok());
  REQUIRE(stores.training.leases.add_tried("r", {tries[0]}, 0).ok());  // counts once
  const auto kept = stores.training.leases.tried("r").value();
  REQUIRE(kept.size() == 3);
  CHECK(kept[1].peer == peer(2));
  CHECK(kept[1].account == ada);
  CHECK(kept[1].place == 5);
  CHECK(kept[1].last_round == 6);
  CHECK(stores.training.leases.tried("another")->empty());
  REQUIRE(stores.training.leases.set_aside("r", {0, 5}).ok());
  REQUIRE(stores.training.leases.tried("r")->size() == 1);
  REQUIRE(stores.training.leases.add_tried("r", {}, 2).ok());
  CHECK(stores.training.leases.tried("r")->empty());
}

TEST_CASE_FIXTURE(Fixture, "a run that leases nothing has no epochs") {
  CHECK_FALSE(run_epochs(stores.training.leases, "r").value());
}

TEST_CASE_FIXTURE(Fixture, "an epoch of which all samples are counted is not open any more") {
  REQUIRE(stores.training.leases.add("r", 8, {{peer(1), 1, 7, 4, 0, 8, 3}}).ok());
  RoundResult result = round_of("r", 0, {{peer(1), ada, 8, 0, {1}}});
  result.counted = {{peer(1), 4, 0, 8}};
  REQUIRE(stores.training.contributions.append(result).ok());
  CHECK(stores.training.leases.open_epochs("r")->empty());
  CHECK(stores.training.leases.next_epoch("r").value() == 5);
  const auto epochs = run_epochs(stores.training.leases, "r").value();
  REQUIRE(epochs);
  CHECK(epochs->complete == 5);
  CHECK_FALSE(epochs->current);
}
