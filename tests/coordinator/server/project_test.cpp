#include "coordinator/server/project.h"

#include <doctest/doctest.h>

#include "tests/support/temp_dir.h"

namespace starling::server {
namespace {

using starling::testing::TempDir;

constexpr WallTime kNow{1'718'000'000'000};

ProjectConfig config_for(const std::string& host) {
  ProjectConfig config;
  config.name = "Poems";
  config.listen = {"127.0.0.1", 7300};
  config.public_at = {host, 7300};
  return config;
}

}  // namespace

TEST_CASE("a project that can not be made leaves nothing, and can be made then") {
  TempDir dir;
  CHECK_FALSE(create_project(dir / "p", config_for("no host"), kNow).ok());  // found after the keys are written
  CHECK(std::filesystem::is_empty(dir / "."));
  const auto made = create_project(dir / "p", config_for("my_host"), kNow);
  REQUIRE_MESSAGE(made.ok(), (made.ok() ? "" : made.error().message));
  CHECK(made->files.directory == dir / "p");
  CHECK(load_project(dir / "p").ok());
  CHECK((std::filesystem::status(dir / "p").permissions() & std::filesystem::perms::mask) ==
        std::filesystem::perms::owner_all);
  CHECK(create_project(dir / "p", config_for("my_host"), kNow).error().code == ErrorCode::already_exists);
}

TEST_CASE("an empty folder that exists is used as it is, and left empty by a failure") {
  TempDir dir;
  std::filesystem::create_directory(dir / "p");
  CHECK_FALSE(create_project(dir / "p/", config_for("no host"), kNow).ok());
  CHECK(std::filesystem::is_empty(dir / "p"));
  REQUIRE(create_project(dir / "p/", config_for("example.org"), kNow).ok());
  CHECK(load_project(dir / "p").ok());
}

}  // namespace starling::server
