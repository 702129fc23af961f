// A project whose database is on a PostgreSQL server.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <csignal>

#include "db/sqlite/open.h"
#include "shared/protocol/heartbeat_reply.h"
#include "tests/coordinator/server/server_harness.h"
#include "tests/support/postgres_server.h"

namespace starling::server::testing {
namespace {

struct Fixture {
  starling::testing::PostgresServer& postgres = starling::testing::PostgresServer::shared();
  std::string url = postgres.create_database();
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a project on a server is made, described and examined like any other, and has no file") {
  // The server asks for no password, but a password must not be shown nevertheless.
  std::string with_password = url;
  with_password.insert(with_password.find('@'), ":secret");
  TestServer server(with_password);
  REQUIRE_MESSAGE(server.init.status == 0, server.init.output);
  CHECK(server.init.says("its database  postgresql://postgres@"));
  CHECK_FALSE(std::filesystem::exists(server.directory + "/coordinator.db"));
  struct stat info = {};
  REQUIRE(::stat((server.directory + "/project.json").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  REQUIRE(server.create_run("one").status == 0);
  const Ended schema = server.command({"schema", server.directory});
  CHECK(std::stoi(schema.last_line()) >= 7);
  const Ended doctor = server.command({"doctor", server.directory});
  CHECK_MESSAGE(doctor.status == 0, doctor.output);
  CHECK(doctor.says("database and ledger agree"));
  const Ended status = server.command({"status", server.directory});
  CHECK(status.says("run          'one' is "));
  CHECK(status.says("MB at postgresql://postgres@"));
  for (const std::string& output : {server.init.output, schema.output, doctor.output, status.output}) {
    CHECK(output.find("secret") == std::string::npos);
  }
}

// Credits two members with a round of 60 samples, while the project is served.
void train_a_round(TestServer& server) {
  ServedRun run(server);
  Two& two = run.two;
  two.settle();
  two.finish_round();
  two.settle();
  run.process.signal(SIGTERM);
  CHECK(run.process.end().status == 0);
}

TEST_CASE_FIXTURE(Fixture, "a backup of such a project is one like any other, and a project in a file when restored") {
  TestServer server(url);
  train_a_round(server);
  const std::string backup = (server.folder / "backup").string();
  const Ended made = server.back_up_with_keys(backup);
  REQUIRE_MESSAGE(made.status == 0, made.output);
  CHECK(server.command({"status", server.directory}).says(" h ago, in '" + backup));
  CHECK(server.command({"doctor", server.directory}).says("ok       backup"));
  const Ended verified = server.command({"restore", backup, "--verify"});
  CHECK_MESSAGE(verified.says("run 'one': 60 samples"), verified.output);
  const std::string restored = (server.folder / "restored").string();
  REQUIRE(server.restore_with_keys(backup, restored).status == 0);
  CHECK(std::filesystem::exists(restored + "/coordinator.db"));
  CHECK(server.command({"run", "status", restored, "--json"}).says(R"("ledger_samples":60)"));
  CHECK(server.command({"credit", "check", restored}).status == 0);
}

TEST_CASE_FIXTURE(Fixture, "a project moves from its file to a server, once, and goes on there") {
  TestServer server;
  train_a_round(server);
  {
    Process process(server.serve_command());
    REQUIRE(process.wait_for("listening on"));
    CHECK(server.command({"move-database", server.directory, url}).says("is served already"));
  }
  const Ended moved = server.command({"move-database", server.directory, url});
  REQUIRE_MESSAGE(moved.status == 0, moved.output);
  CHECK(server.command({"move-database", server.directory, url}).says("on a server already"));
  std::filesystem::remove(server.directory + "/coordinator.db");
  CHECK(server.command({"run", "status", server.directory, "--json"}).says(R"("ledger_samples":60)"));
  CHECK(server.command({"credit", "check", server.directory}).status == 0);
  Process process(server.serve_command());
  CHECK(process.wait_for("listening on"));
}

TEST_CASE_FIXTURE(Fixture, "names of before that are too like each other are listed, and move along") {
  TestServer server;
  REQUIRE(server.create_run("one").status == 0);
  {
    const auto file = server.directory + "/coordinator.db";
    db::Connection connection = db::open_file(file, {.mode = db::OpenMode::read_write}).value();
    REQUIRE(connection.execute("INSERT INTO account (display_name, created_ms) VALUES ('Анна', 1), ('анна', 1)").ok());
  }
  const std::string clash = "account 'анна' is too like 'Анна'";
  CHECK(server.command({"doctor", server.directory}).says("note     names differ: " + clash));
  const Ended moved = server.command({"move-database", server.directory, url});
  CHECK_MESSAGE(moved.status == 0, moved.output);
  CHECK(moved.says("note: " + clash));
  CHECK(server.command({"doctor", server.directory}).says("note     names differ: " + clash));
}

TEST_CASE_FIXTURE(Fixture, "a project is moved to an empty database only, and stays where it was otherwise") {
  const TestServer other(url);
  REQUIRE(other.init.status == 0);
  TestServer server;
  REQUIRE(server.create_run("one").status == 0);
  const Ended refused = server.command({"move-database", server.directory, url});
  CHECK(refused.status == 1);
  CHECK_MESSAGE(refused.says("holds a project already"), refused.output);
  CHECK_FALSE(server.command({"status", server.directory}).says("postgresql"));
}

TEST_CASE_FIXTURE(Fixture, "a database that is another project's, is not there, or whose server is away is refused") {
  TestServer server(url);
  REQUIRE(server.init.status == 0);
  const TestServer second(url);
  CHECK(second.init.status == 1);
  CHECK_MESSAGE(second.init.says("is a project's already"), second.init.output);
  CHECK_FALSE(std::filesystem::exists(second.directory));
  CHECK(TestServer(postgres.url("nowhere")).init.says("does not exist"));
  CHECK(TestServer("mysql://localhost/poems").init.says("looks like postgresql://"));
  postgres.kill();
  const Ended away = server.command({"status", server.directory});
  CHECK(away.status == 1);
  CHECK_MESSAGE(away.says("Is the server running"), away.output);
  postgres.start();
}

TEST_CASE_FIXTURE(Fixture, "a server that is away for a while costs a wait and nothing else") {
  TestServer server(url);
  ServedRun run(server);
  Two& two = run.two;
  two.finish_round();
  two.settle();  // with who may decide the next round
  two.finish_round();
  postgres.kill();
  CHECK(eventually([&] { return !two.ada.call().ok(); }));  // by now another may lead, for all it knows
  postgres.start();
  CHECK(eventually([&] { return two.ada.call().ok() && two.bob.call().ok(); }));
  two.settle();
  two.finish_round();
  two.settle();
  const Ended status = server.command({"run", "status", server.directory, "--json"});
  CHECK_MESSAGE(status.says(R"("ledger_samples":180)"), status.output);
  CHECK(server.command({"credit", "check", server.directory}).status == 0);
  run.process.signal(SIGTERM);
  CHECK(run.process.end().status == 0);
}

}  // namespace starling::server::testing
