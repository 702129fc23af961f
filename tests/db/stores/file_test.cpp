// Behaviour that only a database in a file has.
#include <doctest/doctest.h>

#include "tests/db/stores/fixture.h"

using namespace starling;
using namespace starling::db;
using namespace starling::db::testing;
using starling::testing::TempDir;

TEST_CASE("a backup made in service restores to the same ledger") {
  TempDir dir;
  const auto database = open(dir / "a.db");
  const Stores& stores = database->stores();
  const AccountId ada = join(stores, "Ada", 1);
  create_run(stores, "r");
  REQUIRE(stores.training.contributions.append(round_of("r", 0, {{peer(1), ada, 10, 100, {50}}})).ok());
  const Status backed_up = database->backup(dir / "copy.db");
  REQUIRE_MESSAGE(backed_up.ok(), (backed_up.ok() ? "" : backed_up.error().message));
  CHECK(database->backup(dir / "copy.db").error().code == ErrorCode::already_exists);
  REQUIRE(stores.training.contributions.append(round_of("r", 1, {{peer(1), ada, 10, 100, {50}}})).ok());
  const auto copy = open(dir / "copy.db");
  CHECK(copy->stores().training.contributions.ledger_sum("r")->samples == 10);
  CHECK(copy->check().ok());
}

TEST_CASE("opening without leave to create says that there is no database") {
  TempDir dir;
  const auto opened = Database::open(dir / "none.db", {});
  CHECK(opened.error().code == ErrorCode::not_found);
  CHECK_FALSE(std::filesystem::exists(dir / "none.db.lock"));
}

TEST_CASE("the database and what lies beside it are its owner's only") {
  TempDir dir;
  const auto database = open(dir / "a.db");
  for (const char* name : {"a.db", "a.db-wal", "a.db-shm", "a.db.lock"}) {
    CAPTURE(name);
    const auto mode = std::filesystem::status(dir / name).permissions();
    CHECK((mode & (std::filesystem::perms::group_all | std::filesystem::perms::others_all)) ==
          std::filesystem::perms::none);
  }
}
