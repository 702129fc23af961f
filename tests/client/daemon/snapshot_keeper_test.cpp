#include "client/daemon/snapshot_keeper.h"

#include <doctest/doctest.h>

#include <vector>

using namespace starling;
using daemon::SnapshotKeeper;

TEST_CASE("the state has the name of its last change, and none after one that failed") {
  std::vector<float> state(1000, 1.0F);
  SnapshotKeeper keeper(state);
  CHECK(keeper.held().digest.is_zero());

  const auto write = [&](float value) {
    return [&state, value]() -> Status {
      state.assign(state.size(), value);
      return {};
    };
  };
  const auto first = keeper.change(1, write(2.0F));
  const auto second = keeper.change(2, write(3.0F));
  REQUIRE((first.ok() && second.ok()));
  CHECK(keeper.held().round == 2);
  CHECK(keeper.held().digest == *second);
  CHECK(keeper.find(1, *first) == nullptr);
  REQUIRE(keeper.find(2, *second) != nullptr);
  CHECK(keeper.find(2, *second)->floats[0] == 3.0F);

  const Error refused{ErrorCode::corrupt, "the gradient is not finite"};
  CHECK_FALSE(keeper.change(3, [&]() -> Status { return refused; }).ok());
  CHECK(keeper.held().digest.is_zero());
  CHECK(keeper.find(2, *second) == nullptr);
}
