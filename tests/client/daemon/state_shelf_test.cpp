#include "client/daemon/state_shelf.h"

#include <doctest/doctest.h>

#include <vector>

using namespace starling;
using namespace starling::daemon;

namespace {

struct Replica {
  explicit Replica(float value) : state(1000), keeper(state) {
    const auto named = keeper.change(1, [&]() -> Status {
      state.assign(state.size(), value);
      return {};
    });
    REQUIRE(named.ok());
    digest = *named;
  }
  std::vector<float> state;
  SnapshotKeeper keeper;
  std::shared_ptr<std::atomic<bool>> serving = std::make_shared<std::atomic<bool>>(true);
  Digest digest;
};

}  // namespace

TEST_CASE("each state on the shelf is found by its digest, while it is served") {
  Replica one(1.0F), two(2.0F);
  StateShelf shelf;
  CHECK(shelf.find(1, one.digest) == nullptr);
  shelf.put(one.keeper, one.serving);
  shelf.put(two.keeper, two.serving);
  REQUIRE(shelf.find(1, one.digest) != nullptr);
  CHECK(shelf.find(1, one.digest)->floats[0] == 1.0F);
  REQUIRE(shelf.find(1, two.digest) != nullptr);
  CHECK(shelf.find(1, two.digest)->floats[0] == 2.0F);
  *two.serving = false;
  CHECK(shelf.find(1, two.digest) == nullptr);
  CHECK(shelf.find(1, one.digest) != nullptr);
}

TEST_CASE("a copy outlives the state that was taken away") {
  StateShelf shelf;
  std::shared_ptr<const transport::StateSnapshot> copy;
  {
    Replica one(1.0F);
    shelf.put(one.keeper, one.serving);
    copy = shelf.find(1, one.digest);
    shelf.take_away(one.keeper);
    CHECK(shelf.find(1, one.digest) == nullptr);
  }
  REQUIRE(copy != nullptr);
  CHECK(copy->floats[999] == 1.0F);
}
