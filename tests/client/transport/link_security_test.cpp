#include <doctest/doctest.h>

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "tests/client/transport/raw_peer.h"
#include "tests/client/transport/swarm.h"

using namespace starling;
using namespace starling::transport;
using namespace starling::transport::testing;

namespace {

constexpr std::array<std::uint8_t, 1> kBeginOfTls = {0x16};

// Whether a peer with this context gets so far that the member answers its hello and its ping.
bool is_let_in(const Member& member, const crypto::TlsContext& tls) {
  RawPeer caller(member.net->port(), tls);
  wire::Hello hello;
  hello.run_id = kRun;
  const auto bytes = wire::encode(hello);
  caller.send_header(wire::FrameType::hello, bytes.size());
  caller.send(bytes);
  caller.send_header(wire::FrameType::ping, 0);
  return caller.next_frame() == wire::FrameType::hello && caller.next_frame() == wire::FrameType::pong;
}

crypto::IssueOptions issued_ago(std::chrono::hours ago) {
  crypto::IssueOptions options;
  options.now = {SystemClock().wall_now().unix_ms - std::chrono::milliseconds(ago).count()};
  return options;
}

// Judges certificates by a time of its own.
class ShiftedClock final : public Clock {
 public:
  explicit ShiftedClock(std::chrono::hours by) : by_(by) {}
  [[nodiscard]] TimePoint now() const override { return clock_.now(); }
  [[nodiscard]] WallTime wall_now() const override {
    return {clock_.wall_now().unix_ms + std::chrono::milliseconds(by_).count()};
  }

 private:
  SystemClock clock_;
  std::chrono::hours by_;
};

}  // namespace

TEST_CASE("a member of the project is let in; one of another project, or with no certificate in date, is not") {
  const Project project;
  const Project other_project;
  const Member member(project);
  const crypto::PrivateKey key = crypto::PrivateKey::generate();
  CHECK(is_let_in(member, project.context(project.identity(key))));
  // It trusts our CA, but another CA issued its own certificate.
  CHECK_FALSE(is_let_in(member, project.context(other_project.identity(key))));
  CHECK_FALSE(is_let_in(member, other_project.context(other_project.identity(key))));
  CHECK_FALSE(is_let_in(member, project.context(project.identity(key, issued_ago(std::chrono::hours(25))))));
  CHECK_FALSE(is_let_in(member, project.context(project.identity(key, issued_ago(std::chrono::hours(-2))))));
  CHECK_FALSE(is_let_in(member, *crypto::TlsContext::first_contact()));
  wait_until([&] { return member.net->stats().links_refused >= 5; });
  CHECK(member.net->stats().links_refused == 5);
}

TEST_CASE("certificates are judged by the clock that was given, not by the machine's") {
  const Project project;
  const crypto::PrivateKey key = crypto::PrivateKey::generate();
  const crypto::TlsContext tls = project.context(project.identity(key));
  const crypto::PrivateKey own = crypto::PrivateKey::generate();
  const ShiftedClock tomorrow(std::chrono::hours(26));
  auto net = PeerNetwork::create(options_for(own.peer_id()), project.context(project.identity(own)), tomorrow, nullptr);
  REQUIRE(net.ok());
  RawPeer caller((*net)->port(), tls);
  CHECK(caller.is_cut_off());
}

TEST_CASE("a peer that shows our own certificate is refused") {
  const Project project;
  Member member(project);
  CHECK_FALSE(is_let_in(member, project.context(project.identity(member.key))));
}

TEST_CASE("a member whose certificate was revoked loses its links and gets no new ones, until it is admitted again") {
  const Project project;
  const Member member(project);
  const crypto::PrivateKey key = crypto::PrivateKey::generate();
  const crypto::TlsContext tls = project.context(project.identity(key));
  RawPeer revoked(member.net->port(), tls);
  revoked.say_hello();
  RawPeer other(member.net->port(), project.context(project.identity(crypto::PrivateKey::generate())));
  other.say_hello();
  wait_until([&] { return member.net->stats().links_up == 2; });
  member.net->deny(std::vector{key.peer_id()});
  CHECK(revoked.is_cut_off());
  CHECK_FALSE(is_let_in(member, tls));
  CHECK(member.net->stats().links_up == 1);
  member.net->deny({});
  CHECK(is_let_in(member, tls));
}

TEST_CASE("a network of callers that say nothing takes half of the places, and nobody else's") {
  const Project project;
  const Member member(project);
  std::vector<std::unique_ptr<RawPeer>> callers;
  const auto call = [&](const std::string& from) {
    callers.push_back(std::make_unique<RawPeer>(member.net->port(), from.c_str()));
    callers.back()->send_plain(kBeginOfTls);
  };
  const auto staying = [&] {
    return std::count_if(callers.begin(), callers.end(), [](const auto& caller) { return !caller->has_ended(); });
  };
  call("127.0.9.1");  // slow, but honest
  for (int i = 0; i < 150; ++i) call("127.0.1." + std::to_string(1 + i));
  wait_until([&] { return staying() == 1 + 32; });
  CHECK_FALSE(callers.front()->has_ended());
  for (int i = 0; i < 60; ++i) call("127.0.2." + std::to_string(1 + i));  // now all places are taken
  wait_until([&] { return staying() == 64; });
  CHECK_FALSE(callers.front()->has_ended());
  CHECK(is_let_in(member, project.context(project.identity(crypto::PrivateKey::generate()))));
  CHECK_FALSE(callers.front()->has_ended());
}

TEST_CASE("one network has half of all links, and another one still gets in") {
  const Project project;
  const crypto::PrivateKey key = crypto::PrivateKey::generate();
  PeerNetworkOptions options = options_for(key.peer_id());
  options.links_max = 6;
  const Member member(options, key, project.context(project.identity(key)), nullptr);
  std::vector<std::unique_ptr<RawPeer>> callers;
  const auto enter_from = [&](const char* address) {
    const crypto::TlsContext tls = project.context(project.identity(crypto::PrivateKey::generate()));
    callers.push_back(std::make_unique<RawPeer>(member.net->port(), tls, address));
    callers.back()->say_hello();
  };
  for (int i = 0; i < 3; ++i) enter_from("127.0.0.1");
  wait_until([&] { return member.net->stats().links_up == 3; });
  RawPeer refused(member.net->port());
  refused.send_plain(kBeginOfTls);
  CHECK(refused.is_cut_off());
  enter_from("127.0.1.1");
  wait_until([&] { return member.net->stats().links_up == 4; });
}

TEST_CASE("nobody dials a member whose certificate was revoked") {
  const Project project;
  const Member donor(project);
  Member member(project);
  member.net->deny(std::vector{donor.id});
  std::vector<float> out(1000);
  std::promise<Status> promise;
  StateFetch fetch;
  fetch.donors = {donor.endpoint()};
  fetch.round = 1;
  fetch.state_digest = Digest{{1}};
  fetch.out = out;
  fetch.done = [&](const Status& status) { promise.set_value(status); };
  REQUIRE(member.net->fetch_state(std::move(fetch)).ok());
  const Status status = promise.get_future().get();
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().message.find("revoked") != std::string::npos);
  CHECK(donor.net->stats().links_up == 0);
}

TEST_CASE("a renewed certificate is shown on new links") {
  const Project project;
  const crypto::PrivateKey key = crypto::PrivateKey::generate();
  // This certificate has expired: nobody lets it in.
  std::vector<float> state(1000, 2.5F);
  const auto snapshot = std::make_shared<const StateSnapshot>(snapshot_of(1, state));
  const Member donor(project, true, [&](RoundIndex, const Digest&) { return snapshot; });
  Member member(options_for(key.peer_id()), key,
                project.context(project.identity(key, issued_ago(std::chrono::hours(30)))), nullptr);
  const auto download = [&] {
    std::vector<float> out(state.size());
    std::promise<Status> promise;
    StateFetch fetch;
    fetch.donors = {donor.endpoint()};
    fetch.round = 1;
    fetch.state_digest = snapshot->digest;
    fetch.out = out;
    fetch.done = [&](const Status& status) { promise.set_value(status); };
    REQUIRE(member.net->fetch_state(std::move(fetch)).ok());
    auto result = promise.get_future();
    REQUIRE(result.wait_for(kPatience) == std::future_status::ready);
    return result.get();
  };
  const Status refused = download();
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("refused our certificate") != std::string::npos);
  member.net->renew_certificate(project.context(project.identity(key)));
  CHECK(download().ok());
}

TEST_CASE("a port in use is an error that says what to do") {
  const Project project;
  const Member first(project);
  const crypto::PrivateKey key = crypto::PrivateKey::generate();
  PeerNetworkOptions options = options_for(key.peer_id());
  options.listen_port = first.net->port();
  const SystemClock clock;
  const auto second = PeerNetwork::create(options, project.context(project.identity(key)), clock, nullptr);
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().code == ErrorCode::already_exists);
  CHECK(second.error().message.find("choose another port") != std::string::npos);
}

TEST_CASE("no socket is handed down to a program that is started") {
  const Project project;
  const auto open_to_children = [] {
    int count = 0;
    for (int fd = 3; fd < 256; ++fd) {
      const int flags = ::fcntl(fd, F_GETFD);
      if (flags >= 0 && (flags & FD_CLOEXEC) == 0) ++count;
    }
    return count;
  };
  const int before = open_to_children();
  Members members = make_members(project, 3);
  check_exact_round(members, plan_of(members, 100'000));
  for (const auto& member : members) REQUIRE(member->net->stats().links_up == 2);
  CHECK(open_to_children() == before);
}

TEST_CASE("a flood of callers that say nothing does not keep members out") {
  const Project project;
  const Member member(project);
  std::vector<std::unique_ptr<RawPeer>> silent;
  for (int i = 0; i < 200; ++i) silent.push_back(std::make_unique<RawPeer>(member.net->port()));
  CHECK(is_let_in(member, project.context(project.identity(crypto::PrivateKey::generate()))));
  CHECK(silent.front()->is_cut_off());
}

TEST_CASE("strangers with good certificates are few at a time, and those idle longest give way") {
  const Project project;
  const Member member(project);
  std::vector<std::unique_ptr<RawPeer>> strangers;
  for (int i = 0; i < 80; ++i) {
    strangers.push_back(std::make_unique<RawPeer>(member.net->port(),
                                                  project.context(project.identity(crypto::PrivateKey::generate()))));
    strangers.back()->say_hello();
  }
  CHECK(strangers.front()->is_cut_off());
  CHECK(member.net->stats().links_up <= 64);
}
