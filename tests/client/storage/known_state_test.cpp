#include "client/storage/known_state.h"

#include <doctest/doctest.h>

#include "shared/base/files.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::storage;

TEST_CASE("what is known of a run's states survives, each run's by itself, and damage is told") {
  const starling::testing::TempDir dir;
  CHECK(load_known_state(dir.path(), "poems").value() == KnownState{});
  KnownState known{17, {}, 1'700'000'000'000};
  known.state_digest.bytes.fill(7);
  REQUIRE(save_known_state(dir.path(), "poems", known).ok());
  CHECK(load_known_state(dir.path(), "poems").value() == known);
  CHECK(load_known_state(dir.path(), "prose").value() == KnownState{});
  REQUIRE(write_file_atomically(dir / "known-state-poems.json", "{\"round\":").ok());
  CHECK(load_known_state(dir.path(), "poems").error().code == ErrorCode::corrupt);
}
