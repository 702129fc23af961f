#include "client/daemon/remote_door.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>
#include <memory>
#include <vector>

#include "client/cli/control_client.h"
#include "shared/base/files.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::daemon;
using namespace std::chrono_literals;

namespace {

wire::ControlReply echo(const wire::ControlRequest& request) {
  wire::ControlReply reply;
  reply.text = std::get<wire::PreviewProject>(request).link;
  return reply;
}

struct House {
  RemoteTimes times{.greeting_max = 60s, .wrong_token_delay = 1ms};
  testing::TempDir folder;
  SystemClock clock;
  std::unique_ptr<RemoteDoor> door = make();

  [[nodiscard]] std::unique_ptr<RemoteDoor> make() const {
    return std::make_unique<RemoteDoor>(folder.path(), clock, echo, times);
  }
  wire::RemoteView enable() {
    const auto made = door->enable("127.0.0.1", 0);
    REQUIRE(made.ok());
    return *made;
  }
};

Result<cli::ControlClient> call(const wire::RemoteView& at, const std::string& token) {
  return cli::ControlClient::connect_remote("127.0.0.1:" + std::to_string(at.port) + "#" + at.fingerprint, token);
}

// The echo of an ordinary request, or the code of its refusal.
std::string said(Result<cli::ControlClient>& client, const wire::ControlRequest& request) {
  REQUIRE(client.ok());
  const auto reply = client->call(request);
  if (!reply.ok()) return reply.error().message;
  return reply->error.has_value() ? std::string(to_string(reply->error->code)) : reply->text;
}

// A stranger who has connected and may send anything.
struct Stranger {
  explicit Stranger(const wire::RemoteView& at) {
    auto made = net::TlsStream::connect({"127.0.0.1", static_cast<std::uint16_t>(at.port)},
                                        crypto::TlsContext::first_contact().value(), never, net::monotonic_now() + 60s);
    REQUIRE(made.ok());
    stream = std::move(*made);
  }
  void say(std::string_view text) { (void)stream->write_all(text, net::monotonic_now() + 60s); }
  // Whether the door hangs up without an answer.
  bool is_hung_up_on() {
    char byte = 0;
    const auto got = stream->read_some({&byte, 1}, net::monotonic_now() + 60s);
    return got.ok() ? *got == 0 : got.error().code == ErrorCode::unavailable;
  }
  net::CancelEvent never;
  std::unique_ptr<net::TlsStream> stream;
};

}  // namespace

TEST_CASE("whoever shows the token is answered in turn, and the door says that somebody is there") {
  House house;
  CHECK_FALSE(house.door->view().enabled);
  const wire::RemoteView at = house.enable();
  auto client = call(at, at.token);
  CHECK(said(client, wire::PreviewProject{"one"}) == "one");
  CHECK(said(client, wire::PreviewProject{"two"}) == "two");
  CHECK(house.door->view().callers == 1);
  CHECK(house.door->view().token.empty());
  CHECK(said(client, wire::ArrangeRemote{"show"}) == "permission_denied");
}

TEST_CASE("a wrong token, or none, is refused; another certificate is not even told a token") {
  House house;
  house.times.wrong_token_delay = 30ms;
  house.door = house.make();
  wire::RemoteView at = house.enable();
  const TimePoint before = house.clock.now();
  CHECK(call(at, std::string(64, 'a')).error().code == ErrorCode::unauthenticated);
  CHECK(house.clock.now() - before >= 30ms);
  CHECK(call(at, "").error().code == ErrorCode::unauthenticated);
  CHECK(house.door->view().callers == 0);
  at.fingerprint = std::string(64, '0');
  const auto other = call(at, at.token);
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().message.find("is not the daemon with that fingerprint") != std::string::npos);
  for (const char* wrong : {"", "host", "host:1", "host:x#00", "host:70000#00", ":1#00"}) {
    CHECK(cli::ControlClient::connect_remote(wrong, "t").error().code == ErrorCode::invalid_argument);
  }
}

TEST_CASE("the token is told once and kept as a hash, in a file of the owner's") {
  House house;
  const wire::RemoteView at = house.enable();
  struct stat info {};
  REQUIRE(::stat((house.folder / "remote.json").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  CHECK(read_file(house.folder / "remote.json", 1 << 20)->find(at.token) == std::string::npos);
}

TEST_CASE("an open door is open again after a restart, for the same token at the same place") {
  House house;
  const wire::RemoteView at = house.enable();
  house.door.reset();
  CHECK_FALSE(call(at, at.token).ok());
  house.door = house.make();
  house.door->reopen();
  auto client = call(at, at.token);
  CHECK(said(client, wire::PreviewProject{"again"}) == "again");
}

TEST_CASE("a new token, or none any more, cuts off who came with the one before") {
  House house;
  const wire::RemoteView first = house.enable();
  auto client = call(first, first.token);
  CHECK(said(client, wire::PreviewProject{"here"}) == "here");
  const wire::RemoteView second = house.enable();
  CHECK(said(client, wire::PreviewProject{"here"}) != "here");
  CHECK(call(second, first.token).error().code == ErrorCode::unauthenticated);
  auto other = call(second, second.token);
  CHECK(said(other, wire::PreviewProject{"here"}) == "here");
  REQUIRE(house.door->disable().ok());
  CHECK(said(other, wire::PreviewProject{"here"}) != "here");
  CHECK_FALSE(call(second, second.token).ok());
  CHECK_FALSE(house.door->view().enabled);
  CHECK_FALSE(std::filesystem::exists(house.folder / "remote.json"));
}

TEST_CASE("what cannot be opened leaves the door as it was") {
  House house;
  const wire::RemoteView at = house.enable();
  House other;
  CHECK(other.door->enable("127.0.0.1", at.port).error().code == ErrorCode::unavailable);
  CHECK_FALSE(other.door->view().enabled);
  CHECK(house.door->enable("example.org", 0).error().code == ErrorCode::invalid_argument);
  auto client = call(at, at.token);
  CHECK(said(client, wire::PreviewProject{"here"}) == "here");
}

TEST_CASE("a damaged file keeps the door shut and says so, until it is opened anew") {
  House house;
  std::ofstream(house.folder / "remote.json") << "{";
  house.door->reopen();
  CHECK(house.door->view().problem.find("remote.json") != std::string::npos);
  house.enable();
  CHECK(house.door->view().problem.empty());
}

TEST_CASE("who says nothing, or too much, or too slowly is hung up on") {
  House house;
  house.times.greeting_max = 200ms;
  house.door = house.make();
  const wire::RemoteView at = house.enable();
  Stranger silent(at);
  CHECK(silent.is_hung_up_on());
  Stranger slow(at);
  slow.say("{\"command\":\"authen");
  CHECK(slow.is_hung_up_on());
  Stranger loud(at);
  loud.say(std::string(100'000, 'x'));
  CHECK(loud.is_hung_up_on());
  Stranger garbled(at);
  garbled.say("GET / HTTP/1.1\r\n\r\n");
  CHECK(garbled.is_hung_up_on());
}

TEST_CASE("many silent strangers do not keep the owner out") {
  House house;
  const wire::RemoteView at = house.enable();
  std::vector<std::unique_ptr<Stranger>> strangers;
  for (std::size_t i = 0; i < 3 * kRemoteStrangersMax; ++i) strangers.push_back(std::make_unique<Stranger>(at));
  auto client = call(at, at.token);
  CHECK(said(client, wire::PreviewProject{"here"}) == "here");
  CHECK(strangers.front()->is_hung_up_on());
}

TEST_CASE("so many callers are served; those beyond hear so") {
  House house;
  const wire::RemoteView at = house.enable();
  std::vector<cli::ControlClient> clients;
  for (std::size_t i = 0; i < kRemoteCallersMax; ++i) {
    auto client = call(at, at.token);
    CHECK(said(client, wire::PreviewProject{"here"}) == "here");
    clients.push_back(std::move(*client));
  }
  CHECK(call(at, at.token).error().code == ErrorCode::resource_exhausted);
}
