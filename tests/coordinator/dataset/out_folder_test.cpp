#include "coordinator/dataset/out_folder.h"

#include <doctest/doctest.h>

#include <fstream>

#include "tests/support/temp_dir.h"

using namespace starling;
using dataset::OutFolder;

namespace {

void put(const std::filesystem::path& file) { std::ofstream(file) << "content"; }

}  // namespace

TEST_CASE("a folder that is not empty is refused, and its files stay") {
  const testing::TempDir folder;
  put(folder / "thesis.txt");
  const auto refused = OutFolder::open(folder.path());
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::already_exists);
  CHECK(std::filesystem::exists(folder / "thesis.txt"));
}

TEST_CASE("what a killed preparation left is removed by the next one") {
  const testing::TempDir folder;
  put(folder / ".preparing");
  put(folder / "00ff");
  const auto out = OutFolder::open(folder.path());
  REQUIRE(out.ok());
  CHECK_FALSE(std::filesystem::exists(folder / "00ff"));
}

TEST_CASE("a folder that another one is filling is refused, and its files stay") {
  const testing::TempDir folder;
  const auto first = OutFolder::open(folder.path());
  REQUIRE(first.ok());
  put(folder / "00ff");
  CHECK_FALSE(OutFolder::open(folder.path()).ok());
  CHECK(std::filesystem::exists(folder / "00ff"));
}

TEST_CASE("a preparation that fails leaves an empty folder, one that succeeds its files and a listing") {
  const testing::TempDir folder;
  {
    const auto out = OutFolder::open(folder.path());
    REQUIRE(out.ok());
    put(folder / "00ff");
  }
  CHECK(std::filesystem::is_empty(folder.path()));
  {
    auto out = OutFolder::open(folder.path());
    REQUIRE(out.ok());
    put(folder / "00ff");
    REQUIRE(out->finish({}).ok());
  }
  CHECK(std::filesystem::exists(folder / "00ff"));
  CHECK(std::filesystem::exists(folder / dataset::kListingName));
  CHECK_FALSE(std::filesystem::exists(folder / ".preparing"));
  CHECK_FALSE(OutFolder::open(folder.path()).ok());
}
