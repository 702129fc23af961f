#include "shared/base/limited_log.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "shared/base/files.h"
#include "tests/support/temp_dir.h"

using namespace starling;

TEST_CASE("of a stranger's lines one is written in a while, with the number of those kept back") {
  const testing::TempDir dir;
  const std::string file = (dir / "a.log").string();
  init_logging({.to_stderr = false, .file = file});
  LimitedLog noisy(std::chrono::seconds(10));
  LimitedLog other(std::chrono::seconds(10));
  TimePoint now(std::chrono::seconds(100));
  std::vector<int> written;
  for (int i = 0; i < 1000; ++i, now += std::chrono::milliseconds(11)) {
    if (noisy.warning(now, "peer " + std::to_string(i))) written.push_back(i);
  }
  CHECK(written == std::vector<int>{0, 910});
  CHECK(other.info(now, "another kind of line"));
  flush_logs();
  init_logging({});
  const std::string log = read_file(file, 4096).value();
  CHECK(log.find(" W peer 0\n") != std::string::npos);
  CHECK(log.find(" W peer 910 (909 more since the last such line)\n") != std::string::npos);
  CHECK(log.find(" I another kind of line\n") != std::string::npos);
  CHECK(std::count(log.begin(), log.end(), '\n') == 3);
}
