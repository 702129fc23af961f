#include "client/storage/project_files.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/client/storage/file_limit.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::storage;
using starling::testing::TempDir;

namespace {

ProjectFiles open_files(const TempDir& folder) {
  auto files = ProjectFiles::open(folder / "data");
  REQUIRE(files.ok());
  return std::move(*files);
}

unsigned mode_of(const std::filesystem::path& path) {
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_mode & 0777U;
}

Project a_project() {
  return {"coordinator.example.org", 4443, "Fortunes", "Ada", 17, "CA PEM", "HOST PEM", "KEY PEM"};
}

}  // namespace

TEST_CASE("the host key is made once, and only its owner can read it") {
  const TempDir folder;
  const mode_t before = ::umask(0);
  PeerId first;
  {
    ProjectFiles files = open_files(folder);
    const auto key = files.host_key();
    REQUIRE(key.ok());
    first = key->peer_id();
  }
  ::umask(before);
  ProjectFiles files = open_files(folder);
  CHECK(files.host_key()->peer_id() == first);
  CHECK(mode_of(folder / "data" / "host.key") == 0600);
  CHECK(mode_of(folder / "data") == 0700);
}

TEST_CASE("a damaged host key is named and never overwritten") {
  const TempDir folder;
  ProjectFiles files = open_files(folder);
  std::ofstream(folder / "data" / "host.key") << "not a key";
  const auto key = files.host_key();
  REQUIRE_FALSE(key.ok());
  CHECK(key.error().code == ErrorCode::corrupt);
  CHECK(key.error().message.find("host.key") != std::string::npos);
  CHECK(std::filesystem::file_size(folder / "data" / "host.key") == 9);
}

TEST_CASE("a second daemon on the same directory is told so") {
  const TempDir folder;
  const ProjectFiles files = open_files(folder);
  const auto second = ProjectFiles::open(folder / "data");
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().code == ErrorCode::already_exists);
  CHECK(second.error().message.find((folder / "data").string()) != std::string::npos);
  CHECK(second.error().message.find("--data-dir") != std::string::npos);
}

TEST_CASE("a directory that cannot be made is named") {
  const TempDir folder;
  std::ofstream(folder / "file") << "x";
  const auto files = ProjectFiles::open(folder / "file" / "data");
  REQUIRE_FALSE(files.ok());
  CHECK(files.error().message.find("--data-dir") != std::string::npos);
  CHECK_FALSE(ProjectFiles::open(folder / "file").ok());
}

TEST_CASE("a project is kept, replaced and forgotten; the key and the rounds stay") {
  const TempDir folder;
  {
    ProjectFiles files = open_files(folder);
    const auto none = files.project();
    REQUIRE(none.ok());
    CHECK_FALSE(none->has_value());
    REQUIRE(files.host_key().ok());
    REQUIRE(files.save_project(a_project()).ok());
  }
  ProjectFiles files = open_files(folder);
  auto project = files.project();
  REQUIRE(project.ok());
  REQUIRE(project->has_value());
  CHECK((*project)->host == "coordinator.example.org");
  CHECK((*project)->port == 4443);
  CHECK((*project)->display_name == "Ada");
  CHECK((*project)->account_id == 17);
  CHECK((*project)->certificate_pem == "HOST PEM");
  CHECK((*project)->manifest_public_key == "KEY PEM");
  CHECK(mode_of(folder / "data" / "project.json") == 0600);

  REQUIRE(files.save_manifest_envelope("{}").ok());
  std::ofstream(folder / "data" / "rounds.jsonl") << "{}\n";
  std::ofstream(folder / "data" / "reports-small.jsonl") << "{}\n";
  std::filesystem::create_directories(folder / "data" / "checkpoints");
  REQUIRE(files.remove_project().ok());
  CHECK_FALSE(files.project()->has_value());
  CHECK(files.manifest_envelope().error().code == ErrorCode::not_found);
  CHECK_FALSE(std::filesystem::exists(folder / "data" / "checkpoints"));
  CHECK_FALSE(std::filesystem::exists(folder / "data" / "reports-small.jsonl"));
  CHECK(std::filesystem::exists(folder / "data" / "host.key"));
  CHECK(std::filesystem::exists(folder / "data" / "rounds.jsonl"));
}

TEST_CASE("a damaged project file is named, with what to do") {
  const TempDir folder;
  ProjectFiles files = open_files(folder);
  std::ofstream(folder / "data" / "project.json") << R"({"host":"x")";
  const auto project = files.project();
  REQUIRE_FALSE(project.ok());
  CHECK(project.error().code == ErrorCode::corrupt);
  CHECK(project.error().message.find("project.json") != std::string::npos);
  CHECK(project.error().message.find("join") != std::string::npos);
}

TEST_CASE("a full disk keeps the old project") {
  const TempDir folder;
  ProjectFiles files = open_files(folder);
  REQUIRE(files.save_project(a_project()).ok());
  Project renewed = a_project();
  renewed.certificate_pem = std::string(5'000, 'x');
  {
    const storage::testing::FileLimit full(1'000);
    CHECK(files.save_project(renewed).error().code == ErrorCode::resource_exhausted);
  }
  CHECK((*files.project())->certificate_pem == "HOST PEM");
}

TEST_CASE("what interrupted writes left is removed when the directory is opened") {
  const TempDir folder;
  std::filesystem::create_directories(folder / "data");
  std::ofstream(folder / "data" / "project.json.tmp-99-1") << "half";
  const ProjectFiles files = open_files(folder);
  CHECK_FALSE(std::filesystem::exists(folder / "data" / "project.json.tmp-99-1"));
}
