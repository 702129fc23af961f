// A project whose database is on a PostgreSQL server.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <csignal>

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
  // The server asks for no password, but nobody may see one all the same.
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

TEST_CASE_FIXTURE(Fixture, "copies of such a project are made on its server, and the commands for backups say how") {
  TestServer server(url);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"backup", "now", server.directory},
        std::vector<std::string>{"backup", "schedule", server.directory, "--every", "12h"}}) {
    const Ended ended = server.command(words);
    CHECK(ended.status == 1);
    CHECK_MESSAGE(ended.says("pg_dump"), ended.output);
  }
  CHECK_FALSE(std::filesystem::exists(server.directory + "/backups"));
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
  REQUIRE(server.create_run("one").status == 0);
  REQUIRE(server.command({"run", "start", server.directory}).status == 0);
  const std::string link = server.command({"invite", "new", server.directory, "--uses", "2"}).last_line();
  Process process(server.serve_command());
  REQUIRE(process.wait_for("listening on"));
  Two two;
  REQUIRE(two.ada.join(link).ok());
  REQUIRE(two.bob.join(link).ok());
  two.settle();
  two.finish_round();
  postgres.kill();
  CHECK(eventually([&] { return !two.ada.call().ok(); }));  // whoever leads may be another by now, for all it knows
  postgres.start();
  CHECK(eventually([&] { return two.ada.call().ok() && two.bob.call().ok(); }));
  two.settle();
  two.finish_round();
  two.settle();
  const Ended status = server.command({"run", "status", server.directory, "--json"});
  CHECK_MESSAGE(status.says(R"("ledger_samples":120)"), status.output);
  CHECK(server.command({"credit", "check", server.directory}).status == 0);
  process.signal(SIGTERM);
  CHECK(process.end().status == 0);
}

}  // namespace starling::server::testing
