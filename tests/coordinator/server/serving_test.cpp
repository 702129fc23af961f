// The whole path with the real program: init, run create, start, serve, join, heartbeats, kill -9, serve.
#include <doctest/doctest.h>

#include <csignal>

#include "shared/protocol/heartbeat_reply.h"
#include "tests/coordinator/server/server_harness.h"
#include "tests/support/free_port.h"
#include "tests/support/postgres_server.h"

namespace starling::server::testing {
TEST_CASE("a coordinator killed in the middle of rounds loses nothing and doubles nothing") {
  std::string database;
  SUBCASE("with its database in a file") {}
  SUBCASE("with its database on a server") { database = starling::testing::PostgresServer::shared().create_database(); }
  TestServer server(database);
  REQUIRE(server.create_run("one").status == 0);
  REQUIRE(server.command({"run", "start", server.directory}).status == 0);
  const std::string link = server.command({"invite", "new", server.directory, "--uses", "2"}).last_line();
  Two two;
  for (int life = 0; life < 4; ++life) {
    CAPTURE(life);
    Process process(server.serve_command());
    REQUIRE(process.wait_for("listening on"));
    if (life == 0) {
      REQUIRE(two.ada.join(link).ok());
      REQUIRE(two.bob.join(link).ok());
      Member eve("Eve");
      CHECK(eve.join(link).error().message.find("used up") != std::string::npos);
      REQUIRE(two.ada.call().ok());
      REQUIRE(two.bob.call().ok());
    }
    two.settle();  // rounds that the killed coordinator had not acknowledged
    two.finish_round();
    two.finish_round();
    two.settle();
    two.finish_round();
    if (life < 3) REQUIRE(two.ada.call().ok());  // Bob's report is missing when the coordinator dies
    process.signal(SIGKILL);
    CHECK(process.end().status == 128 + SIGKILL);
  }
  Process process(server.serve_command());
  REQUIRE(process.wait_for("listening on"));
  two.settle();
  CHECK(two.round == 12);
  const Ended status = server.command({"run", "status", server.directory, "--json"});
  CHECK_MESSAGE(status.says(R"("ledger_samples":720)"), status.output);
  CHECK(status.says(R"("samples_by_volunteer":{"Ada":480,"Bob":240})"));
  CHECK(status.says(R"("swarm_size":2)"));
  CHECK(status.says(R"("round":12)"));
  CHECK(server.command({"doctor", server.directory}).status == 0);
  CHECK(server.command({"credit", "check", server.directory}).status == 0);

  // Beside the running server, Ada's credit of two rounds is reversed.
  const std::vector<std::string> reverse = {"credit", "reverse",  server.directory,
                                            "--user", "ada",      "--rounds",
                                            "2-3",    "--reason", "its group does not confirm it"};
  std::vector<std::string> dry = reverse;
  dry.emplace_back("--dry-run");
  CHECK(server.command(dry).says("would take back 2 ledger lines of 'Ada': 80 samples"));
  CHECK(server.command(reverse).says("took back 2 ledger lines of 'Ada': 80 samples"));
  CHECK(server.command(reverse).says("took back 0 ledger lines"));
  CHECK(server.command({"run", "status", server.directory, "--json"})
            .says(R"("samples_by_volunteer":{"Ada":400,"Bob":240})"));
  const Ended checked = server.command({"credit", "check", server.directory});
  CHECK_MESSAGE(checked.status == 0, checked.output);
  CHECK(checked.says("26 lines, 2 of them reversals"));
}

TEST_CASE("what the operator says beside a running server reaches its members") {
  TestServer server;
  Process process(server.serve_command());
  REQUIRE(process.wait_for("listening on"));
  REQUIRE(server.create_run("one").status == 0);
  Two two;
  REQUIRE(two.ada.join(server.init.last_line()).ok());
  const auto state_becomes = [&](wire::RunState wanted) {
    for (int tries = 0; tries < 2000; ++tries) {
      const auto reply = two.ada.call();
      if (reply.ok() && reply->run_state == wanted) return true;
    }
    return false;
  };
  CHECK(state_becomes(wire::RunState::created));
  REQUIRE(server.command({"run", "start", server.directory}).status == 0);
  CHECK(state_becomes(wire::RunState::running));
  REQUIRE(server.command({"run", "pause", server.directory}).status == 0);
  CHECK(state_becomes(wire::RunState::created));
}

TEST_CASE("a ban made beside a running server is in force at the next calls, and ends when lifted") {
  TestServer server;
  REQUIRE(server.create_run("one").status == 0);
  REQUIRE(server.command({"run", "start", server.directory}).status == 0);
  Process process(server.serve_command());
  REQUIRE(process.wait_for("listening on"));
  Two two;
  REQUIRE(two.ada.join(server.init.last_line()).ok());
  REQUIRE(two.ada.call().ok());
  const auto becomes = [&](bool admitted) {
    for (int tries = 0; tries < 5000; ++tries) {
      const auto reply = two.ada.call();
      if (reply.ok() == admitted) return reply.ok() ? std::string("admitted") : reply.error().message;
    }
    return std::string("unchanged");
  };
  const Ended made = server.command({"ban", "add", server.directory, "user:Ada", "--reason", "sends noise"});
  REQUIRE_MESSAGE(made.status == 0, made.output);
  CHECK(becomes(false).find("sends noise") != std::string::npos);
  REQUIRE(server.command({"ban", "remove", server.directory, "1"}).status == 0);
  CHECK(becomes(true) == "admitted");
}

TEST_CASE("the operator's own door has health and metrics, and the public one no metrics") {
  TestServer server;
  REQUIRE(server.create_run("one").status == 0);
  std::vector<std::string> command = server.serve_command();
  const int port = starling::testing::free_port();
  command.insert(command.end(), {"--admin", "127.0.0.1:" + std::to_string(port)});
  command.insert(command.end(), {"--relay", "127.0.0.1:" + std::to_string(starling::testing::free_port())});
  Process process(command);
  REQUIRE(process.wait_for("listening on"));
  const auto link = manifest::parse_join_link(server.init.last_line()).value();
  const auto ca = net::fetch_pinned_ca({link.host, link.port}, link.ca_fingerprint).value();
  const auto get = [&](std::uint16_t at, const std::string& path) {
    net::HttpClient client({"127.0.0.1", at}, crypto::TlsContext::coordinator_client(ca, std::nullopt).value());
    auto response = client.get(path);
    REQUIRE(response.ok());
    const auto body = net::body_of(std::move(*response));
    return body.ok() ? *body : body.error().message;
  };
  const auto admin = static_cast<std::uint16_t>(port);
  CHECK(get(admin, "/healthz") == R"({"ok":true})");
  CHECK(get(admin, "/readyz") == R"({"ok":true})");
  (void)get(link.port, "/leaderboard");
  const std::string metrics = get(admin, "/metrics");
  for (const char* line : {"starling_build_info{version=\"", "starling_ready 1\n", "starling_connections ",
                           "starling_http_requests_total{route=\"/leaderboard\",code=\"200\"} 1\n",
                           "starling_http_request_seconds_count{route=\"/leaderboard\"} 1\n",
                           "starling_peers{state=\"training\"} 0\n", "starling_db_bytes ", "starling_run_round 0\n",
                           "starling_peers_reach{how=\"relay\"} 0\n", "starling_relay_bytes_total 0\n",
                           "starling_work_checks_total{found=\"wrong\"} 0\n", "starling_credit_pending 0\n"}) {
    CAPTURE(line);
    CHECK_MESSAGE(metrics.find(line) != std::string::npos, metrics);
  }
  CHECK(get(link.port, "/metrics").find("nothing at this address") != std::string::npos);
  // The operator's page requires a log-in, and is on this port only.
  CHECK(server.get("/", port).status == 303);
  CHECK(server.get("/audit", port).status == 303);
  CHECK(server.get("/login", port).body.find("Operator&#39;s page") != std::string::npos);
  for (const char* path : {"/people", "/audit", "/news"}) CHECK(server.get(path).status == 404);
}

TEST_CASE("a relay is served at an address, not at a name") {
  const TestServer server;
  std::vector<std::string> command = server.serve_command();
  command.insert(command.end(), {"--relay", "localhost:8444"});
  Process process(command);
  CHECK(process.wait_for("'localhost' is no IP address"));
}

TEST_CASE("links of another project and damaged links join nobody") {
  TestServer server;
  TestServer other;
  Process process(server.serve_command());
  REQUIRE(process.wait_for("listening on"));
  const auto ours = manifest::parse_join_link(server.init.last_line()).value();
  const auto theirs = manifest::parse_join_link(other.init.last_line()).value();
  manifest::JoinLink wrong_project = ours;
  wrong_project.ca_fingerprint = theirs.ca_fingerprint;
  Member ada("Ada");
  CHECK_FALSE(ada.join(manifest::format_join_link(wrong_project)).ok());
  manifest::JoinLink wrong_invite = ours;
  wrong_invite.invite = theirs.invite;
  CHECK(ada.join(manifest::format_join_link(wrong_invite)).error().code == ErrorCode::unauthenticated);
  CHECK(ada.join(server.init.last_line()).ok());
}

}  // namespace starling::server::testing
