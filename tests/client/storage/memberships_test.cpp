#include "client/storage/memberships.h"

#include <doctest/doctest.h>

#include <fstream>

#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::storage;
using starling::testing::TempDir;

namespace {

Memberships open_all(const TempDir& folder) {
  auto root = ProjectFiles::open(folder / "data");
  REQUIRE(root.ok());
  auto memberships = Memberships::open(std::move(*root));
  REQUIRE(memberships.ok());
  return std::move(*memberships);
}

Project project(const std::string& name, const std::string& host) {
  return {host, 4443, name, "Ada", 17, "CA PEM", HostCertificate("HOST PEM"), "KEY PEM"};
}

}  // namespace

TEST_CASE("each project has files of its own, and all are there again after a restart") {
  const TempDir folder;
  {
    Memberships memberships = open_all(folder);
    REQUIRE(memberships.add(project("Birds", "a.example"), 0).ok());
    REQUIRE(memberships.add(project("Fish", "b.example"), 50).ok());
    memberships.all()[1].share = 3;
    memberships.set_current(1);
    REQUIRE(memberships.save().ok());
    CHECK(memberships.all()[0].files->dir() == folder / "data");
    CHECK(memberships.all()[1].files->dir() != memberships.all()[0].files->dir());
  }
  const Memberships again = open_all(folder);
  REQUIRE(again.all().size() == 2);
  CHECK(again.all()[0].project.name == "Birds");
  CHECK(again.all()[1].project.name == "Fish");
  CHECK(again.all()[1].share == 3);
  CHECK(again.all()[1].trained_s == 50);
  CHECK(again.current() == 1);
}

TEST_CASE("a project is not joined twice, and no more than there is room for") {
  const TempDir folder;
  Memberships memberships = open_all(folder);
  REQUIRE(memberships.add(project("Birds", "a.example"), 0).ok());
  CHECK(memberships.current() == Memberships::kNone);  // until it is its turn
  const Status twice = memberships.add(project("Birds", "a.example"), 0);
  REQUIRE_FALSE(twice.ok());
  CHECK(twice.error().code == ErrorCode::already_exists);
  for (std::size_t i = 1; i < kProjectsMax; ++i) {
    REQUIRE(memberships.add(project("More", "host" + std::to_string(i)), 0).ok());
  }
  CHECK(memberships.add(project("Too many", "z.example"), 0).error().code == ErrorCode::resource_exhausted);
}

TEST_CASE("a project that was left is gone with its folder, and the others stay who they were") {
  const TempDir folder;
  Memberships memberships = open_all(folder);
  for (const char* name : {"Birds", "Fish", "Ants"}) {
    REQUIRE(memberships.add(project(name, std::string(name) + ".example"), 0).ok());
  }
  memberships.set_current(2);
  const auto gone = memberships.all()[1].files->dir();
  REQUIRE(memberships.remove(1).ok());
  CHECK_FALSE(std::filesystem::exists(gone));
  CHECK(memberships.all()[memberships.current()].project.name == "Ants");
  REQUIRE(memberships.remove(memberships.current()).ok());
  CHECK(memberships.current() == Memberships::kNone);
  REQUIRE(memberships.remove(0).ok());
  CHECK_FALSE(std::filesystem::exists(folder / "data" / "projects.json"));
}

TEST_CASE("projects are found by name or address, and a name that two have is refused") {
  const TempDir folder;
  Memberships memberships = open_all(folder);
  REQUIRE(memberships.add(project("Birds", "a.example"), 0).ok());
  REQUIRE(memberships.add(project("Fish", "b.example"), 0).ok());
  REQUIRE(memberships.add(project("Fish", "c.example"), 0).ok());
  CHECK(*memberships.find("birds") == 0);
  CHECK(*memberships.find("C.example:4443") == 2);
  CHECK(memberships.find("fish").error().code == ErrorCode::invalid_argument);
  const auto unknown = memberships.find("cats");
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().code == ErrorCode::not_found);
  CHECK(unknown.error().message.find("'Birds' (a.example:4443)") != std::string::npos);
}

TEST_CASE("damaged shares are set aside, and the projects share alike") {
  const TempDir folder;
  {
    Memberships memberships = open_all(folder);
    REQUIRE(memberships.add(project("Birds", "a.example"), 0).ok());
  }
  std::ofstream(folder / "data" / "projects.json") << "{";
  const Memberships again = open_all(folder);
  REQUIRE(again.all().size() == 1);
  CHECK(again.all()[0].share == 1);
  CHECK(std::filesystem::exists(folder / "data" / "projects.json.corrupt"));
}

TEST_CASE("a project is found by its address, an IPv6 one as links have it") {
  const TempDir folder;
  Memberships memberships = open_all(folder);
  REQUIRE(memberships.add(project("Birds", "a.example"), 0).ok());
  REQUIRE(memberships.add(project("Fish", "2001:db8::7"), 0).ok());
  CHECK(*memberships.find("A.example:4443") == 0);
  CHECK(*memberships.find("[2001:db8::7]:4443") == 1);
  CHECK(memberships.find("2001:db8::7:4443").error().code == ErrorCode::not_found);
}
