#include "client/storage/append_log.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "shared/base/files.h"
#include "tests/client/storage/file_limit.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::storage;

namespace {

std::string content(const std::filesystem::path& path) {
  auto bytes = read_file(path, 1 << 24);
  REQUIRE(bytes.ok());
  return *bytes;
}

void put(const std::filesystem::path& path, const std::string& bytes) { std::ofstream(path) << bytes; }

}  // namespace

TEST_CASE("lines are appended, and the last one is known when the file is opened again") {
  const starling::testing::TempDir folder;
  {
    auto log = AppendLog::open(folder / "log");
    REQUIRE(log.ok());
    CHECK(log->last_line().empty());
    CHECK(log->append("one").ok());
    CHECK(log->append("two").ok());
  }
  const auto log = AppendLog::open(folder / "log");
  REQUIRE(log.ok());
  CHECK(log->last_line() == "two");
  CHECK(content(folder / "log") == "one\ntwo\n");
}

TEST_CASE("a line torn at any byte is cut off, and the next one starts a new line") {
  const std::string whole = "first\nsecond\nthird\n";
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    const starling::testing::TempDir folder;
    put(folder / "log", whole.substr(0, length));
    auto log = AppendLog::open(folder / "log");
    REQUIRE(log.ok());
    REQUIRE(log->append("next").ok());
    const std::string kept = whole.substr(0, whole.substr(0, length).rfind('\n') + 1);
    CHECK(content(folder / "log") == kept + "next\n");
  }
}

TEST_CASE("a file without line ends is kept aside, and a new one begun") {
  const starling::testing::TempDir folder;
  put(folder / "log", std::string(3 * kLogLineMax, 'x'));
  auto log = AppendLog::open(folder / "log");
  REQUIRE(log.ok());
  REQUIRE(log->append("fresh").ok());
  CHECK(content(folder / "log") == "fresh\n");
  CHECK(std::filesystem::file_size(folder / "log.corrupt") == 3 * kLogLineMax);
}

TEST_CASE("a line that does not fit on the disk leaves no part of itself") {
  const starling::testing::TempDir folder;
  auto log = AppendLog::open(folder / "log");
  REQUIRE(log.ok());
  REQUIRE(log->append("fits").ok());
  {
    const storage::testing::FileLimit full(64);
    const Status refused = log->append(std::string(200, 'x'));
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == ErrorCode::resource_exhausted);
  }
  CHECK(content(folder / "log") == "fits\n");
  CHECK(log->append("again").ok());
  CHECK(content(folder / "log") == "fits\nagain\n");
}
