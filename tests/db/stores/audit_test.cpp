// The chain of the audit log and the roles of operators, in new databases and in those of the version before.
#include "db/postgres/open.h"
#include "db/schema/migrate.h"
#include "db/sqlite/open.h"
#include "tests/db/stores/fixture.h"

using namespace starling;
using namespace starling::db;
using namespace starling::db::testing;
using starling::testing::PostgresServer;
using starling::testing::TempDir;

namespace {

constexpr int kVersionBefore = 16;

// A digest that shows the digest before, the action, and nothing else.
Digest chain(const Digest& before, const AuditLine& line) {
  Digest next = before;
  next.bytes[0] = static_cast<std::uint8_t>(next.bytes[0] + 1);
  next.bytes[1] = static_cast<std::uint8_t>(line.action.size());
  return next;
}

AuditLine act(const std::string& action) { return {0, {1}, "ada", action, "one", ""}; }

std::vector<int> numbers(const std::vector<AuditLine>& lines) {
  std::vector<int> all;
  for (const AuditLine& line : lines) all.push_back(line.digest ? line.digest->bytes[0] : -1);
  return all;
}

std::span<const Migration> migrations_before(std::span<const Migration> all) {
  const auto is_later = [](const Migration& migration) { return migration.version > kVersionBefore; };
  return all.first(static_cast<std::size_t>(std::find_if(all.begin(), all.end(), is_later) - all.begin()));
}

// A database as the version before has it, with an operator and two lines in its log.
void make_old(Connection& connection, std::span<const Migration> all) {
  REQUIRE(migrate(connection, migrations_before(all)).ok());
  for (const char* row :
       {"INSERT INTO audit (at_ms, who, action, subject, note) VALUES (1, 'ada', 'run start', 'one', '')",
        "INSERT INTO audit (at_ms, who, action, subject, note) VALUES (2, 'ada', 'run pause', 'one', '')",
        "INSERT INTO operator (name, password, created_ms) VALUES ('ada', 'hash', 1)",
        "INSERT INTO run (run_id, manifest_envelope, state, created_ms, round) VALUES ('one', 'envelope', "
        "'running', 1, 5)"}) {
    const Status done = connection.execute(row);
    REQUIRE_MESSAGE(done.ok(), (done.ok() ? "" : done.error().message));
  }
}

void check_upgraded(const Stores& stores) {
  const auto old = stores.operation.audit.list_on(10, 0).value();
  CHECK(numbers(old) == std::vector<int>{-1, -1});
  REQUIRE(stores.operation.audit.add(act("run retire"), chain).ok());
  CHECK(numbers(stores.operation.audit.list_on(10, 0).value()) == std::vector<int>{1, 2, 3});
  CHECK(stores.operation.operators.find("ada")->role == OperatorRole::all);
  CHECK(stores.training.runs.find("one")->round == 5);
  CHECK(stores.training.runs.find("one")->rollbacks == 0);
}

struct Fixture {
  TempDir dir;
  std::unique_ptr<Database> database = open(dir / "a.db");
  const Stores& stores = database->stores();
};

}  // namespace

TEST_SUITE_BEGIN("stores");

TEST_CASE_FIXTURE(Fixture, "each line of the audit log is chained to the one before it") {
  for (const char* action : {"a", "bb", "ccc"}) REQUIRE(stores.operation.audit.add(act(action), chain).ok());
  const auto lines = stores.operation.audit.list_on(2, 0).value();
  REQUIRE(lines.size() == 2);
  CHECK(numbers(lines) == std::vector<int>{1, 2});
  CHECK(lines[1].digest->bytes[1] == 2);
  CHECK(numbers(stores.operation.audit.list_on(2, lines[1].id).value()) == std::vector<int>{3});
  CHECK(numbers(stores.operation.audit.list(10, INT64_MAX).value()) == std::vector<int>{3, 2, 1});
}

TEST_CASE_FIXTURE(Fixture, "an operator has a role, which may change, and a session tells it") {
  OperatorStore& operators = stores.operation.operators;
  REQUIRE(operators.set({"Ada", "hash", {1}, OperatorRole::viewer}).ok());
  REQUIRE(operators.open(digest(1), "Ada", {1}, {100}).ok());
  CHECK(operators.session(digest(1), {2})->role == OperatorRole::viewer);
  REQUIRE(operators.set_role("ada", OperatorRole::moderator).ok());
  CHECK(operators.session(digest(1), {2})->role == OperatorRole::moderator);
  CHECK(operators.session(digest(1), {2})->name == "Ada");
  CHECK(operators.list()->front().role == OperatorRole::moderator);
  CHECK(operators.set_role("Eve", OperatorRole::all).error().code == ErrorCode::not_found);
  CHECK(operators.session(digest(1), {100}).error().code == ErrorCode::not_found);
  CHECK(role_named("run-manager").value() == OperatorRole::run_manager);
  CHECK(role_named("king").error().code == ErrorCode::invalid_argument);
}

TEST_SUITE_END();

TEST_CASE("the log of a file of the version before is chained with its next line, and no line can be changed then") {
  TempDir dir;
  {
    Connection connection = open_file(dir / "a.db", {.mode = OpenMode::create}).value();
    make_old(connection, sqlite_migrations());
  }
  {
    const auto database = Database::open(dir / "a.db", {.ballast_bytes = 0}).value();
    check_upgraded(database->stores());
  }
  Connection connection = open_file(dir / "a.db", {.mode = OpenMode::read_write}).value();
  CHECK_FALSE(connection.execute("UPDATE audit SET note = 'nothing' WHERE id = 1").ok());
  CHECK_FALSE(connection.execute("UPDATE audit SET digest = NULL WHERE id = 1").ok());
  CHECK_FALSE(connection.execute("UPDATE audit SET digest = zeroblob(32) WHERE id = 1").ok());
  CHECK_FALSE(connection.execute("DELETE FROM audit WHERE id = 1").ok());
}

TEST_CASE("the log of a server of the version before is chained with its next line, and no line can be changed then") {
  const std::string url = PostgresServer::shared().create_database();
  {
    Connection connection = open_server(url, ServerRole::writer).value();
    make_old(connection, postgres_migrations());
  }
  {
    const auto database = Database::connect(url, {}).value();
    check_upgraded(database->stores());
  }
  Connection connection = open_server(url, ServerRole::writer).value();
  CHECK_FALSE(connection.execute("UPDATE audit SET note = 'nothing' WHERE id = 1").ok());
  CHECK_FALSE(connection.execute("UPDATE audit SET digest = NULL WHERE id = 1").ok());
  CHECK_FALSE(connection.execute("DELETE FROM audit WHERE id = 1").ok());
}
