#include "shared/control/self_test_note.h"

#include <doctest/doctest.h>

#include "shared/base/files.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::wire;

TEST_CASE("the moment of a miss is kept over restarts, and another miss has its own") {
  const testing::TempDir dir;
  CHECK(first_told_of_miss(dir.path(), 2, {1000}) == WallTime{1000});
  CHECK(first_told_of_miss(dir.path(), 2, {5000}) == WallTime{1000});
  CHECK(first_told_of_miss(dir.path(), 3, {6000}) == WallTime{6000});
  REQUIRE(write_file_atomically(dir / "misses.json", "{").ok());
  CHECK(first_told_of_miss(dir.path(), 3, {7000}) == WallTime{7000});
}

TEST_CASE("a self-test counts for all projects of a data directory, from its moment on") {
  const testing::TempDir dir;
  const std::filesystem::path further = dir / "projects" / "2";
  std::filesystem::create_directories(further);
  CHECK_FALSE(self_test_passed_since(dir.path(), {0}));
  REQUIRE(note_self_test(dir.path(), {1000}).ok());
  for (const std::filesystem::path& folder : {dir.path(), further}) {
    CHECK(self_test_passed_since(folder, {999}));
    CHECK(self_test_passed_since(folder, {1000}));
    CHECK_FALSE(self_test_passed_since(folder, {1001}));
  }
  REQUIRE(write_file_atomically(dir / "self-test.json", "{").ok());
  CHECK_FALSE(self_test_passed_since(dir.path(), {0}));
}
