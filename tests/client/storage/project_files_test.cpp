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
  return {"coordinator.example.org",   4443,      "Fortunes", "Ada", 17, "CA PEM",
          HostCertificate("HOST PEM"), "KEY PEM", "TOKEN"};
}

}  // namespace

TEST_CASE("the host's key and secret are made once, and only their owner can read them") {
  const TempDir folder;
  const mode_t before = ::umask(0);
  PeerId first;
  std::string secret;
  {
    ProjectFiles files = open_files(folder);
    const auto host = files.host_identity();
    REQUIRE(host.ok());
    first = host->key.peer_id();
    secret = host->secret;
  }
  ::umask(before);
  ProjectFiles files = open_files(folder);
  CHECK(files.host_identity()->key.peer_id() == first);
  CHECK(files.host_identity()->secret == secret);
  CHECK(mode_of(folder / "data" / "host.key") == 0600);
  CHECK(mode_of(folder / "data" / "host.secret") == 0600);
  CHECK(mode_of(folder / "data") == 0700);
}

TEST_CASE("a damaged host key or secret is named and never overwritten") {
  for (const char* name : {"host.key", "host.secret"}) {
    const TempDir folder;
    ProjectFiles files = open_files(folder);
    std::ofstream(folder / "data" / name) << "not a key";
    const auto host = files.host_identity();
    REQUIRE_FALSE(host.ok());
    CHECK(host.error().code == ErrorCode::corrupt);
    CHECK(host.error().message.find(name) != std::string::npos);
    CHECK(std::filesystem::file_size(folder / "data" / name) == 9);
  }
}

TEST_CASE("every project gets a device token of its own, the same one each time") {
  const std::string secret(64, 'a');
  const std::string token = device_token(secret, "one CA");
  CHECK(token.size() == 64);
  CHECK(device_token(secret, "one CA") == token);
  CHECK(device_token(secret, "another CA") != token);
  CHECK(device_token(std::string(64, 'b'), "one CA") != token);
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
    REQUIRE(files.host_identity().ok());
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
  CHECK((*project)->certificate.pem() == "HOST PEM");
  CHECK((*project)->manifest_public_key == "KEY PEM");
  CHECK((*project)->device_token == "TOKEN");
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

TEST_CASE("a renewed certificate is that of every copy of the project, whenever it was made") {
  const Project project = a_project();
  const Project copy = project;
  project.certificate.renew("NEW PEM");
  CHECK(copy.certificate.pem() == "NEW PEM");
  CHECK(a_project().certificate.pem() == "HOST PEM");
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
  renewed.certificate.renew(std::string(5'000, 'x'));
  {
    const storage::testing::FileLimit full(1'000);
    CHECK(files.save_project(renewed).error().code == ErrorCode::resource_exhausted);
  }
  CHECK((*files.project())->certificate.pem() == "HOST PEM");
}

TEST_CASE("what interrupted writes left is removed when the directory is opened") {
  const TempDir folder;
  std::filesystem::create_directories(folder / "data");
  std::ofstream(folder / "data" / "project.json.tmp-99-1") << "half";
  const ProjectFiles files = open_files(folder);
  CHECK_FALSE(std::filesystem::exists(folder / "data" / "project.json.tmp-99-1"));
}
