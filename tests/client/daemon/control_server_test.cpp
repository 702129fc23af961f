#include "client/daemon/control_server.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>
#include <vector>

#include "client/cli/control_client.h"
#include "client/daemon/status_board.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::daemon;

namespace {

wire::ControlReply echo(const wire::ControlRequest& request) {
  wire::ControlReply reply;
  if (const auto* const preview = std::get_if<wire::PreviewProject>(&request)) {
    reply.text = preview->link;
  } else {
    reply.error = Error{ErrorCode::not_found, "no such thing"};
  }
  return reply;
}

}  // namespace

TEST_CASE("requests on one connection are answered in turn, refusals too") {
  const testing::TempDir dir;
  const auto server = ControlServer::create(dir / "control.sock", echo);
  REQUIRE(server.ok());
  auto client = cli::ControlClient::connect(dir.path());
  REQUIRE(client.ok());
  CHECK(client->call(wire::PreviewProject{"one"})->text == "one");
  const auto refused = client->call(wire::GetPeers{});
  REQUIRE(refused->error.has_value());
  CHECK(refused->error->code == ErrorCode::not_found);
  CHECK(client->call(wire::PreviewProject{"two"})->text == "two");
}

TEST_CASE("only the owner may open the socket") {
  const testing::TempDir dir;
  const auto server = ControlServer::create(dir / "control.sock", echo);
  REQUIRE(server.ok());
  struct stat info {};
  REQUIRE(::stat((dir / "control.sock").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
}

TEST_CASE("a socket left behind by a dead daemon is replaced, and removed at the end") {
  const testing::TempDir dir;
  std::ofstream(dir / "control.sock") << "a socket that is there is no different: bind() refuses its name";
  {
    const auto server = ControlServer::create(dir / "control.sock", echo);
    REQUIRE(server.ok());
    CHECK(std::filesystem::is_socket(dir / "control.sock"));
  }
  CHECK_FALSE(std::filesystem::exists(dir / "control.sock"));
}

TEST_CASE("without a daemon the command line says how to start one") {
  const testing::TempDir dir;
  const auto client = cli::ControlClient::connect(dir.path());
  REQUIRE_FALSE(client.ok());
  CHECK(client.error().code == ErrorCode::unavailable);
  CHECK(client.error().message.find("starlingd --data-dir") != std::string::npos);
}

TEST_CASE("a data directory too deep for a Unix socket is refused with the reason") {
  const testing::TempDir dir;
  const auto server = ControlServer::create(dir / std::string(120, 'x') / "control.sock", echo);
  REQUIRE_FALSE(server.ok());
  CHECK(server.error().message.find("shorter") != std::string::npos);
}

TEST_CASE("many connections at once are served; those beyond the limit hear so") {
  const testing::TempDir dir;
  const auto server = ControlServer::create(dir / "control.sock", echo);
  REQUIRE(server.ok());
  std::vector<cli::ControlClient> clients;
  const wire::ControlRequest request = wire::PreviewProject{"here"};
  for (std::size_t i = 0; i < kControlConnectionsMax; ++i) {
    auto client = cli::ControlClient::connect(dir.path());
    REQUIRE(client.ok());
    CHECK(client->call(request)->text == "here");
    clients.push_back(std::move(*client));
  }
  auto late = cli::ControlClient::connect(dir.path());
  REQUIRE(late.ok());
  const auto refusal = late->call(request);
  REQUIRE(refusal.ok());
  REQUIRE(refusal->error.has_value());
  CHECK(refusal->error->code == ErrorCode::resource_exhausted);
  CHECK(refusal->error->message.find("close one") != std::string::npos);
}

TEST_CASE("a waiter hears of a change at once, and of nothing after the time is over") {
  StatusBoard board;
  wire::DaemonStatus status;
  status.phase = wire::DaemonPhase::training;
  board.publish(status);
  const std::int64_t revision = board.wait(-1, Duration::zero()).revision;
  board.publish(status);  // nothing has changed
  CHECK(board.wait(revision, std::chrono::milliseconds(1)).revision == revision);
  std::thread publisher([&] {
    status.phase = wire::DaemonPhase::averaging;
    board.publish(status);
  });
  const wire::DaemonStatus news = board.wait(revision, std::chrono::seconds(20));
  publisher.join();
  CHECK(news.revision == revision + 1);
  CHECK(news.phase == wire::DaemonPhase::averaging);
}
