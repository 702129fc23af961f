#include "client/storage/previous_state.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <vector>

#include "tests/client/storage/file_limit.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::storage;
using starling::testing::TempDir;

namespace {

Digest digest(int number) {
  Digest digest;
  digest.bytes.fill(static_cast<std::uint8_t>(number));
  return digest;
}

}  // namespace

TEST_CASE("the state before the last step comes back, and no other") {
  const TempDir folder;
  PreviousState previous(folder.path());
  std::vector<float> state(10000, 1.5F);
  CHECK(previous.restore(digest(1), state).error().code == ErrorCode::not_found);
  REQUIRE(previous.keep(state, digest(1)).ok());
  CHECK(std::filesystem::is_empty(folder.path()));
  state.assign(state.size(), 2.5F);
  REQUIRE(previous.keep(state, digest(2)).ok());
  state.assign(state.size(), 3.5F);
  CHECK(previous.restore(digest(1), state).error().code == ErrorCode::not_found);
  CHECK(state.front() == 3.5F);
  REQUIRE(previous.restore(digest(2), state).ok());
  CHECK(state == std::vector<float>(10000, 2.5F));
  std::vector<float> shorter(9999);
  CHECK_FALSE(previous.restore(digest(2), shorter).ok());
  previous.forget();
  CHECK(previous.restore(digest(2), state).error().code == ErrorCode::not_found);
}

TEST_CASE("on a full disk nothing is kept, and the next state is when there is room again") {
  const TempDir folder;
  PreviousState previous(folder.path());
  std::vector<float> state(100000, 1.5F);
  {
    const storage::testing::FileLimit full(1000);
    CHECK_FALSE(previous.keep(state, digest(1)).ok());
  }
  CHECK(previous.restore(digest(1), state).error().code == ErrorCode::not_found);
  CHECK(previous.keep(state, digest(1)).ok());
  CHECK(previous.restore(digest(1), state).ok());
}

TEST_CASE("a folder that is not there is an error that names it") {
  PreviousState previous("/nowhere/at/all");
  const Status kept = previous.keep(std::vector<float>(3), digest(1));
  REQUIRE_FALSE(kept.ok());
  CHECK(kept.error().message.find("/nowhere/at/all") != std::string::npos);
}
