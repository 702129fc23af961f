#include "client/serving/account.h"

#include <doctest/doctest.h>

#include "tests/client/serving/callers.h"

using namespace starling;
using namespace starling::serving;

TEST_CASE("units are counted by caller, cell and way until they are taken") {
  Account account(100);
  account.on_computed(peer(1), 0, false, 5);
  account.on_computed(peer(1), 0, true, 3);
  account.on_computed(peer(1), 0, false, 2);
  account.on_computed(peer(2), 4, true, 1);
  const auto served = account.take_served();
  REQUIRE(served.size() == 2);
  CHECK(served[0].caller == peer(1));
  CHECK(served[0].units_forth == 7);
  CHECK(served[0].units_back == 3);
  CHECK(served[1].cell == 4);
  CHECK(account.take_served().empty());
}

TEST_CASE("a cell's weights are those of all callers, each up to the bound, and begin again once they are taken") {
  Account account(100);
  account.on_computed(peer(1), 0, true, 3);
  account.on_computed(peer(1), 0, false, 9);
  CHECK(account.add_weight(peer(1), 0, 60) == 60);
  CHECK(account.add_weight(peer(1), 0, 60) == 40);
  CHECK(account.add_weight(peer(1), 0, 60) == 0);
  CHECK(account.add_weight(peer(2), 0, 7) == 7);
  CHECK(account.add_weight(peer(2), 0, -5) == 0);
  CHECK(account.add_weight(peer(2), 1, 1) == 1);
  const Weights weights = account.take_weights(0);
  CHECK(weights.samples == 107);
  CHECK(weights.units_back == 3);
  CHECK(account.take_weights(0).samples == 0);
  CHECK(account.add_weight(peer(1), 0, 60) == 60);
  CHECK(account.take_weights(1).samples == 1);
}
