#include "coordinator/server/trainers_seen.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <optional>
#include <string>

#include "shared/base/files.h"
#include "tests/support/temp_dir.h"

namespace starling::server {
namespace {

using std::chrono::seconds;

constexpr TimePoint kStart = TimePoint() + std::chrono::hours(1);

Project a_project(const std::filesystem::path& folder) {
  ProjectConfig config;
  config.name = "Poems";
  config.listen = config.public_at = {"127.0.0.1", 7300};
  return create_project(folder, config, {1'718'000'000'000}).value();
}

std::string text_of(const std::filesystem::path& file) {
  const auto text = read_file(file, 4096);
  return text ? *text : std::string();
}

}  // namespace

TEST_CASE("a member that says something else each time makes the server write a file every three seconds at most") {
  const testing::TempDir folder;
  const Project project = a_project(folder / "p");
  const std::filesystem::path sheet = project.files.at("trainers.json");
  TrainersSeen seen(project);
  const auto devices = [] { return core::DevicesInUse(); };
  api::ServedRun served;
  served.manifest.run_id = "one";
  int writes = 0;
  std::string before;
  for (int half = 0; half < 120; ++half) {
    served.failing = {1, 2, "why " + std::to_string(half)};
    seen.look(served, devices, kStart + seconds(half) / 2);
    const std::string now = text_of(sheet);
    if (now != before) ++writes;
    before = now;
  }
  CHECK(writes >= 15);
  CHECK(writes <= 20);
  served.failing = {1, 2, "the last word"};
  for (int second = 60; second < 75; ++second) seen.look(served, devices, kStart + seconds(second));
  CHECK(text_of(sheet).find("the last word") != std::string::npos);
  for (int second = 75; second < 80; ++second) seen.look(std::nullopt, devices, kStart + seconds(second));
  CHECK_FALSE(std::filesystem::exists(sheet));
}

}  // namespace starling::server
