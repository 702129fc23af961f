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

TEST_CASE("whoever asks while the state changes is not kept waiting, and gets nothing") {
  std::vector<float> state(1000, 1.0F);
  SnapshotKeeper keeper(state);
  const auto before = keeper.change(1, []() -> Status { return {}; });
  REQUIRE(before.ok());
  bool asked = false;
  const auto after = keeper.change(2, [&]() -> Status {
    CHECK(keeper.find(1, *before) == nullptr);  // a lock that were held here would never be released
    CHECK(keeper.held().digest.is_zero());
    asked = true;
    state.assign(state.size(), 2.0F);
    return {};
  });
  REQUIRE(after.ok());
  CHECK(asked);
  CHECK(keeper.find(2, *after) != nullptr);
}

TEST_CASE("a copy that is being handed out keeps its values when the state moves on") {
  std::vector<float> state(1000, 1.0F);
  SnapshotKeeper keeper(state);
  const auto first = keeper.change(1, []() -> Status { return {}; });
  REQUIRE(first.ok());
  const auto copy = keeper.find(1, *first);
  REQUIRE(copy != nullptr);
  CHECK(keeper.find(1, *first) == copy);  // one copy for everybody
  const auto second = keeper.change(2, [&]() -> Status {
    state.assign(state.size(), 2.0F);
    return {};
  });
  REQUIRE(second.ok());
  CHECK(copy->floats.front() == 1.0F);
  CHECK(copy->digest == *first);
}

TEST_CASE("the state is proven under its own name only, and the last proof outlives a change that is under way") {
  std::vector<float> state(1000, 1.0F);
  SnapshotKeeper keeper(state);
  Hash128 challenge;
  challenge.bytes.fill(7);
  const auto first = keeper.change(1, []() -> Status { return {}; });
  REQUIRE(first.ok());
  const auto proof = keeper.prove(challenge, *first);
  REQUIRE(proof.has_value());
  const auto second = keeper.change(2, [&]() -> Status {
    CHECK(keeper.prove(challenge, *first) == proof);
    CHECK_FALSE(keeper.prove({}, *first).has_value());
    state.assign(state.size(), 2.0F);
    return {};
  });
  REQUIRE(second.ok());
  const auto next = keeper.prove(challenge, *second);
  REQUIRE(next.has_value());
  CHECK(next != proof);
  CHECK_FALSE(keeper.prove(challenge, *first).has_value());
}
