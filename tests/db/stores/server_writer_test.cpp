// Writing to a server that disappears and returns, and the choice of the leader meanwhile.
#include "db/stores/server_writer.h"

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <thread>

#include "db/postgres/open.h"
#include "db/stores/write_queue.h"
#include "tests/db/stores/fixture.h"
#include "tests/support/suite_form.h"

using namespace starling;
using namespace starling::db;
using namespace starling::db::testing;
using starling::testing::PostgresServer;
using starling::testing::times;

namespace {

struct Fixture {
  PostgresServer& server = PostgresServer::shared();
  std::string url = server.create_database();

  std::unique_ptr<Database> open_database() {
    return Database::connect(url, {.create = true, .commit_interval = from_ms(0)}).value();
  }
  // The reading connection may be interrupted as well.
  std::int64_t rows_of(std::int64_t k) {
    for (;;) {
      auto reader = open_server(url, ServerRole::reader);
      if (!reader) continue;
      const auto rows = reader->query_int("SELECT count(*) FROM t WHERE k = " + std::to_string(k));
      if (rows) return *rows;
    }
  }
  // Ends all sessions of writers everywhere; returns their number.
  std::int64_t break_writers() {
    Connection other = open_server(server.url("postgres"), ServerRole::reader).value();
    return other
        .query_int(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname LIKE 'test%' AND "
            "application_name = 'starling-coordinator'")
        .value();
  }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "connections that break at any moment lose nothing that was told ok, and double nothing") {
  // The table has no key, so that duplicates would show.
  REQUIRE(open_server(url, ServerRole::writer)->execute("CREATE TABLE t (k bigint)").ok());
  WriteQueue queue(std::make_unique<ServerWriter>(url, open_server(url, ServerRole::writer).value()),
                   {.commit_interval = from_ms(0)});
  std::atomic<bool> done = false;
  std::int64_t broken = 0;
  std::thread breaking([&] {
    while (!done) broken += break_writers();
  });
  std::int64_t stored = 0;
  const std::int64_t writes = times(60, 300);
  for (std::int64_t k = 0; k < writes; ++k) {
    const Status written = queue.run([k](Connection& connection) -> Status {
      STARLING_ASSIGN(Statement insert, connection.prepare("INSERT INTO t (k) VALUES (?)"));
      return insert.bind(k).run();
    });
    stored += written.ok() ? 1 : 0;
    if (!written.ok()) CHECK(written.error().code == ErrorCode::unavailable);
    CHECK(rows_of(k) == (written.ok() ? 1 : 0));
  }
  done = true;
  breaking.join();
  CHECK(broken > 0);
  CHECK(stored > 0);
  MESSAGE(stored << " of " << writes << " writes were done, " << broken << " connections broken meanwhile");
}

TEST_CASE_FIXTURE(Fixture, "who closes does not wait for a server that went away in the middle of a commit") {
  // The server ends its process when the row is about to be committed.
  REQUIRE(
      open_server(url, ServerRole::writer)
          ->execute("CREATE TABLE t (k bigint); CREATE FUNCTION fall() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                    "COPY (SELECT 1) TO PROGRAM 'kill -QUIT $(head -n 1 postmaster.pid)'; PERFORM pg_sleep(60); "
                    "RETURN NULL; END $$; CREATE CONSTRAINT TRIGGER falls AFTER INSERT ON t DEFERRABLE INITIALLY "
                    "DEFERRED FOR EACH ROW EXECUTE FUNCTION fall()")
          .ok());
  std::promise<Status> told;
  const SystemClock clock;
  TimePoint closed{};
  {
    WriteQueue queue(std::make_unique<ServerWriter>(url, open_server(url, ServerRole::writer).value()), {});
    REQUIRE(queue
                .submit([](Connection& connection) { return connection.execute("INSERT INTO t VALUES (1)"); },
                        [&told](const Status& status) { told.set_value(status); })
                .ok());
    server.wait();
    closed = clock.now();
  }
  CHECK(clock.now() - closed < std::chrono::seconds(30));  // the sleeper would take 60
  const Status outcome = told.get_future().get();
  REQUIRE_FALSE(outcome.ok());
  CHECK_MESSAGE(outcome.error().message.find("look before you do it again") != std::string::npos,
                outcome.error().message);
  server.start();
  CHECK(rows_of(1) == 0);
}

TEST_CASE_FIXTURE(Fixture, "a server that was away is written to again when it is back, by readers too") {
  const auto database = open_database();
  create_run(database->stores(), "before");
  server.kill();
  CHECK(database->stores().training.runs.create({"during", "", RunState::running, {1}, 0}).error().code ==
        ErrorCode::unavailable);
  CHECK(database->stores().training.runs.list().error().code == ErrorCode::unavailable);
  server.start();
  create_run(database->stores(), "after");
  CHECK(database->stores().training.runs.list()->size() == 2);
}

TEST_CASE_FIXTURE(Fixture, "one of several leads; when its session ends another does, and it can write nothing more") {
  const auto first = open_database();
  const auto second = open_database();
  create_run(first->stores(), "r");
  const AccountId ada = join(first->stores(), "Ada", 1);
  const auto append = [&](Database& database, RoundIndex round) {
    return database.stores()
        .training.contributions.append(round_of("r", round, {{peer(1), ada, 10, 1000, {2000}}}))
        .status();
  };
  CHECK(append(*second, 0).ok());  // no leader is required yet: a command beside the server
  REQUIRE(first->campaign().value());
  CHECK_FALSE(second->campaign().value());
  CHECK(append(*first, 1).ok());
  CHECK(append(*second, 2).error().code == ErrorCode::failed_precondition);
  CHECK(second->stores().training.runs.set_state("r", RunState::paused).ok());  // a write that needs no leader

  REQUIRE(break_writers() > 0);
  while (!second->campaign().value()) continue;  // its own session broke too, which it does not notice: it did not lead
  CHECK(append(*first, 3).error().code == ErrorCode::failed_precondition);
  CHECK(append(*second, 3).ok());
  CHECK_FALSE(first->campaign().value());
  CHECK_FALSE(first->campaign().value());
  CHECK(first->stores().training.contributions.ledger_sum("r")->samples == 30);
}

TEST_CASE_FIXTURE(Fixture, "a leader whose session broke is told so before it may lead again") {
  const auto database = open_database();
  REQUIRE(database->campaign().value());
  REQUIRE(break_writers() > 0);
  create_run(database->stores(), "r");  // on a new connection
  CHECK_FALSE(database->campaign().value());
  while (!database->campaign().value()) continue;  // the old session may take a moment to end
}

TEST_CASE_FIXTURE(Fixture, "a leader that falls silent loses the lead to the next") {
  const auto silent = open_database();
  const auto next = open_database();
  REQUIRE(silent->campaign().value());
  const SystemClock clock;
  const TimePoint begin = clock.now();
  while (!next->campaign().value()) continue;
  CHECK(clock.now() - begin < std::chrono::seconds(30));  // three on an idle computer
  CHECK_FALSE(silent->campaign().value());
}

TEST_CASE_FIXTURE(Fixture, "an empty database is not taken for the project's") {
  CHECK(Database::connect(url, {}).error().code == ErrorCode::not_found);
  CHECK(open_server(url, ServerRole::reader)
            ->query_int("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
            .value() == 0);
}

TEST_CASE_FIXTURE(Fixture, "a database on a server checks its ledger, knows its size, and is copied into a file") {
  const auto database = open_database();
  CHECK(database->check().ok());
  CHECK(database->health().file_bytes > 0);
  create_run(database->stores(), "r");
  starling::testing::TempDir dir;
  REQUIRE(database->backup(dir / "copy").ok());
  CHECK(database->backup(dir / "copy").error().code == ErrorCode::already_exists);
  CHECK(std::distance(std::filesystem::directory_iterator(dir.path()), {}) == 1);  // one file
  const auto copy = Database::open(dir / "copy", {});
  REQUIRE(copy.ok());
  CHECK((*copy)->stores().training.runs.find("r").ok());
}
