#include <doctest/doctest.h>

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

SeatedGroup group_of(std::uint8_t number, RoundIndex round, bool dealt = true) {
  SeatedGroup group{{}, round, dealt, 500};
  group.group_id.bytes.fill(number);
  group.seats = {{0, peer(9), 30, 0}, {0, peer(1), 10, 4}, {1, peer(5), 20, 3}, {1, peer(2), 20, 0}};
  return group;
}

}  // namespace

TEST_SUITE_BEGIN("stores");

TEST_CASE_FIXTURE(Fixture, "seated groups come back with their seats, by column and in the order of their ranks") {
  REQUIRE(stores.training.electorates.add("r", group_of(1, 4), 0).ok());
  REQUIRE(stores.training.electorates.add("r", group_of(2, 4, false), 0).ok());
  CHECK(stores.training.electorates.list("r").value() ==
        std::vector<SeatedGroup>{group_of(1, 4), group_of(2, 4, false)});
  CHECK(stores.training.electorates.list("another")->empty());
}

TEST_CASE_FIXTURE(Fixture, "a group that is there already stays as it is") {
  REQUIRE(stores.training.electorates.add("r", group_of(1, 4), 0).ok());
  SeatedGroup other = group_of(1, 9);
  other.seats.clear();
  REQUIRE(stores.training.electorates.add("r", other, 0).ok());
  CHECK(stores.training.electorates.list("r").value() == std::vector<SeatedGroup>{group_of(1, 4)});
}

TEST_CASE_FIXTURE(Fixture, "a decided round brings its successor, and takes the groups of rounds before it away") {
  for (const std::uint8_t number : {1, 2, 3})
    REQUIRE(stores.training.electorates.add("r", group_of(number, number), 0).ok());
  RoundResult result = round_of("r", 3, {{peer(1), ada, 6, 0, {1}}});
  result.successor = group_of(7, 4, false);
  REQUIRE(stores.training.contributions.append(result).ok());
  REQUIRE(stores.training.contributions.append(result).ok());  // counts once
  CHECK(stores.training.electorates.list("r").value() ==
        std::vector<SeatedGroup>{group_of(3, 3), group_of(7, 4, false)});
  const auto credited = stores.training.contributions.of_round("r", 3).value();
  REQUIRE(credited.size() == 1);
  CHECK(credited[0].peer_id == peer(1));
  CHECK(credited[0].account_id == ada);
  CHECK(credited[0].samples == 6);
  CHECK(stores.training.contributions.of_round("r", 2)->empty());
}

TEST_SUITE_END();
