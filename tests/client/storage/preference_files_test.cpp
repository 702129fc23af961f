#include "client/storage/preference_files.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "tests/client/storage/file_limit.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::storage;
using starling::testing::TempDir;

TEST_CASE("preferences, wish and traffic come back as they were saved") {
  const TempDir folder;
  wire::Preferences preferences;
  preferences.limits.threads_max = 3;
  const wire::PauseRequest pause_request{wire::PauseKind::now, {1'800'000'000'000}, "gaming", false, {}};
  const MonthTraffic traffic{{1'799'000'000'000}, 1, 20, 300};
  {
    PreferenceFiles files(folder.path());
    CHECK(files.preferences() == wire::Preferences());
    CHECK(files.pause_request() == wire::PauseRequest());
    CHECK(files.traffic() == MonthTraffic());
    REQUIRE(files.save(preferences).ok());
    REQUIRE(files.save(pause_request).ok());
    REQUIRE(files.save(traffic).ok());
  }
  PreferenceFiles files(folder.path());
  CHECK(files.preferences() == preferences);
  CHECK(files.pause_request() == pause_request);
  CHECK(files.traffic() == traffic);
  CHECK(files.traffic().total() == 321);
  MonthTraffic doubtful{{1'899'000'000'000}, 0, 0, 5, {traffic}, {1'898'000'000'000}};
  REQUIRE(files.save(doubtful).ok());
  CHECK(files.traffic() == doubtful);
  CHECK(files.problems().empty());
}

TEST_CASE("a damaged file is kept aside and told, and the defaults apply") {
  const TempDir folder;
  std::ofstream(folder / "preferences.json") << R"({"threads_max":-4})";
  PreferenceFiles files(folder.path());
  CHECK(files.preferences() == wire::Preferences());
  REQUIRE(files.problems().size() == 1);
  CHECK(files.problems()[0].find("threads_max") != std::string::npos);
  CHECK(files.problems()[0].find("preferences.json.corrupt") != std::string::npos);
  CHECK(std::filesystem::exists(folder / "preferences.json.corrupt"));
  CHECK_FALSE(std::filesystem::exists(folder / "preferences.json"));
}

TEST_CASE("whoever paused and lost the note of it is still paused") {
  const TempDir folder;
  std::ofstream(folder / "pause.json") << "{";
  PreferenceFiles files(folder.path());
  const wire::PauseRequest pause_request = files.pause_request();
  CHECK(pause_request.kind == wire::PauseKind::now);
  CHECK(pause_request.reason.find("damaged") != std::string::npos);
}

TEST_CASE("a full disk keeps the old preferences") {
  const TempDir folder;
  PreferenceFiles files(folder.path());
  wire::Preferences preferences;
  preferences.limits.threads_max = 1;
  REQUIRE(files.save(preferences).ok());
  {
    const storage::testing::FileLimit full(100);
    CHECK_FALSE(files.save(wire::Preferences()).ok());
  }
  CHECK(files.preferences() == preferences);
}
