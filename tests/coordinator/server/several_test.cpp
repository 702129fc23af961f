// Several servers of one project, whose database is on a server.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "shared/base/files.h"
#include "shared/protocol/heartbeat_reply.h"
#include "tests/coordinator/server/server_harness.h"
#include "tests/support/free_port.h"
#include "tests/support/postgres_server.h"

namespace starling::server::testing {
namespace {

struct Fixture {
  TestServer project{starling::testing::PostgresServer::shared().create_database()};
  std::array<int, 2> ports = {std::stoi(project.address.substr(project.address.rfind(':') + 1)),
                              starling::testing::free_port()};

  Fixture() {
    REQUIRE(project.create_run("one").status == 0);
    REQUIRE(project.command({"run", "start", project.directory}).status == 0);
  }
  [[nodiscard]] std::unique_ptr<Process> serve(int port) const {
    auto process = std::make_unique<Process>(std::vector<std::string>{STARLING_COORDINATOR, "serve", project.directory,
                                                                      "--listen", "127.0.0.1:" + std::to_string(port)});
    REQUIRE(process->wait_for("listening on"));
    return process;
  }
  // A join link to the server at that port.
  [[nodiscard]] std::string link(int port) const {
    std::string link = project.command({"invite", "new", project.directory}).last_line();
    const std::string own = ":" + std::to_string(ports[0]);
    return link.replace(link.find(own), own.size(), ":" + std::to_string(port));
  }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture,
                  "whichever server is called, the leader answers; when it dies another leads within seconds") {
  auto first = serve(ports[0]);
  auto second = serve(ports[1]);
  CHECK(project.command({"status", project.directory}).says("leader       127.0.0.1:" + std::to_string(ports[0])));
  Two two;
  REQUIRE(two.ada.join(link(ports[0])).ok());
  REQUIRE(two.bob.join(link(ports[1])).ok());
  two.ada.beat.upload_bytes_per_s = 1e6;
  two.settle();
  two.finish_round();
  two.settle();
  for (const char* path : {"/", "/status"}) {
    const net::HttpResponse from_leader = project.get(path, ports[0]);
    const net::HttpResponse from_other = project.get(path, ports[1]);
    CHECK(from_other.status == 200);
    CHECK(from_other.content_type == from_leader.content_type);
    const auto strict = [](const net::HttpResponse& response) {
      return std::count_if(response.headers.begin(), response.headers.end(),
                           [](const auto& header) { return header.first == "content-security-policy"; });
    };
    CHECK(strict(from_other) == strict(from_leader));
  }
  CHECK(project.get("/v1/status", ports[1]).body.find(R"("swarm_size":2)") != std::string::npos);
  const std::string swarm = project.get("/swarm.json", ports[1]).body;
  CHECK(swarm.find(R"("samples_per_s":)") != std::string::npos);
  CHECK(swarm == project.get("/swarm.json", ports[0]).body);

  first->signal(SIGKILL);
  CHECK(first->end().status == 128 + SIGKILL);
  const SystemClock clock;
  const TimePoint killed = clock.now();
  CHECK(project.get("/leaderboard", ports[1]).status == 200);
  REQUIRE(eventually([&] { return two.bob.call().ok(); }));
  CHECK(clock.now() - killed < std::chrono::seconds(30));  // a second or so on an idle computer
  first = serve(ports[0]);
  two.settle();
  two.finish_round();
  two.settle();
  CHECK(project.command({"status", project.directory}).says("leader       127.0.0.1:" + std::to_string(ports[1])));
  const Ended status = project.command({"run", "status", project.directory, "--json"});
  CHECK_MESSAGE(status.says(R"("ledger_samples":120)"), status.output);
  CHECK(project.command({"credit", "check", project.directory}).status == 0);
  CHECK(project.command({"doctor", project.directory}).status == 0);
}

TEST_CASE_FIXTURE(Fixture, "nobody but the project's servers can hand on what somebody else asked") {
  const auto server = serve(ports[0]);
  Member ada("Ada");
  REQUIRE(ada.join(link(ports[0])).ok());
  const auto ca = read_file(std::filesystem::path(project.directory) / "ca.pem", 64 * 1024);
  net::HttpClient stranger({"127.0.0.1", static_cast<std::uint16_t>(ports[0])},
                           crypto::TlsContext::coordinator_client(*ca, std::nullopt).value());
  for (const std::string& token : {std::string("handed-on|"), "handed-on|" + ada.peer().hex() + "|127.0.0.1",
                                   "handed-on|" + ada.peer().hex() + "|127.0.0.1|" + Digest{}.hex()}) {
    stranger.set_token(token);
    const auto asked = stranger.get("/v1/status");
    REQUIRE_MESSAGE(asked.ok(), (asked.ok() ? "" : asked.error().message));
    CHECK(asked->status == 401);
    CHECK(stranger.post_json("/v1/heartbeat", "{}")->status == 401);
  }
  stranger.set_token("anything-else");
  CHECK(stranger.get("/v1/status")->status == 200);
}

}  // namespace starling::server::testing
