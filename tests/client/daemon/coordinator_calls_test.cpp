#include "client/daemon/coordinator_calls.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/socket.h>

#include <atomic>
#include <csignal>
#include <optional>
#include <thread>

#include "shared/base/unique_fd.h"
#include "shared/crypto/certificates.h"
#include "shared/protocol/heartbeat.h"
#include "shared/protocol/heartbeat_reply.h"

using namespace starling;
using namespace starling::daemon;

namespace {

// Accepts connections and sends nothing.
class SilentServer {
 public:
  SilentServer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    REQUIRE(::bind(listener_.get(), generic, size) == 0);
    REQUIRE(::listen(listener_.get(), 8) == 0);
    REQUIRE(::getsockname(listener_.get(), generic, &size) == 0);
    port_ = ntohs(address.sin_port);
  }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  // The next caller's connection.
  [[nodiscard]] UniqueFd accept() const { return UniqueFd(::accept(listener_.get(), nullptr, nullptr)); }

 private:
  UniqueFd listener_;
  std::uint16_t port_ = 0;
};

// Counts its callers, and hangs up on each.
class RudeServer {
 public:
  RudeServer() : thread_([this] { serve(); }) { std::signal(SIGPIPE, SIG_IGN); }  // the daemon ignores it, too
  ~RudeServer() { (void)end(); }
  [[nodiscard]] const SilentServer& server() const { return server_; }
  // Returns how many have called.
  int end() {
    if (!thread_.joinable()) return callers_;
    ended_ = true;
    const UniqueFd last(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(server_.port());
    REQUIRE(::connect(last.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    thread_.join();
    return callers_;
  }

 private:
  void serve() {
    while (true) {
      const UniqueFd caller = server_.accept();
      if (ended_) return;
      ++callers_;
    }
  }

  SilentServer server_;
  std::atomic<bool> ended_ = false;
  std::atomic<int> callers_ = 0;
  std::thread thread_;
};

std::unique_ptr<CoordinatorCalls> calls_to(const SilentServer& server, CorrectedClock& clock,
                                           Duration lifetime = crypto::kCertificateLifetime) {
  const auto ca = *crypto::CertificateAuthority::create("test", clock.wall_now());
  const crypto::PrivateKey key = crypto::PrivateKey::generate();
  crypto::IssueOptions options;
  options.now = clock.wall_now();
  options.lifetime = lifetime;
  storage::Project project;
  project.host = "127.0.0.1";
  project.port = server.port();
  project.ca_pem = ca.certificate_pem();
  project.certificate.renew(*ca.issue(crypto::make_csr(key), options));
  auto calls = CoordinatorCalls::create(project, key, clock);
  REQUIRE(calls.ok());
  return std::move(*calls);
}

}  // namespace

TEST_CASE("a renewal of the certificate that hangs ends when the calls are cancelled") {
  CorrectedClock clock;
  const SilentServer server;
  const auto calls = calls_to(server, clock);
  std::optional<Result<std::string>> renewed;
  std::thread coordinator_thread([&] { renewed = calls->renew_certificate(); });
  const UniqueFd caller = server.accept();
  calls->cancel();
  coordinator_thread.join();
  REQUIRE_FALSE(renewed->ok());
  CHECK(renewed->error().code == ErrorCode::unavailable);  // waiting until its time is up would give deadline_exceeded
}

TEST_CASE("a certificate that is due is renewed before the call that shows it, and tried again after a while") {
  const auto callers = [](Duration lifetime, int heartbeats) {
    CorrectedClock clock;
    RudeServer server;
    const auto calls = calls_to(server.server(), clock, lifetime);
    for (int i = 0; i < heartbeats; ++i) CHECK_FALSE(calls->heartbeat({}).ok());
    return server.end();
  };
  const int of_one = callers(std::chrono::hours(24), 1);
  CHECK(callers(std::chrono::hours(24), 2) == 2 * of_one);
  CHECK(callers(std::chrono::hours(7), 1) == 2 * of_one);
  CHECK(callers(std::chrono::hours(7), 2) == 3 * of_one);
}

TEST_CASE("after a renewal that somebody asked for and that failed, the next call makes no further one at once") {
  CorrectedClock clock;
  RudeServer server;
  const auto calls = calls_to(server.server(), clock, std::chrono::hours(7));
  CHECK_FALSE(calls->renew_certificate().ok());
  CHECK_FALSE(calls->heartbeat({}).ok());
  RudeServer other;
  const auto without = calls_to(other.server(), clock);
  CHECK_FALSE(without->heartbeat({}).ok());
  CHECK(server.end() == 2 * other.end());
}

TEST_CASE("a heartbeat is waited for by what earlier ones took, within bounds") {
  Deadline deadline(kHeartbeatDeadline);
  CHECK(deadline.allowed() == std::chrono::seconds(10));
  deadline.observe(std::chrono::milliseconds(5));
  CHECK(deadline.allowed() == std::chrono::seconds(4));
  deadline.observe(std::chrono::seconds(2));
  CHECK(deadline.allowed() == std::chrono::seconds(16));
  for (int i = 0; i < 3; ++i) deadline.on_timeout();
  CHECK(deadline.allowed() == std::chrono::seconds(20));
}

TEST_CASE("after cancel() no call is made any more, whichever it is") {
  CorrectedClock clock;
  const SilentServer server;
  const auto calls = calls_to(server, clock);
  calls->cancel();
  CHECK(calls->renew_certificate().error().code == ErrorCode::unavailable);
  CHECK(calls->heartbeat({}).error().code == ErrorCode::unavailable);
  CHECK(calls->run_manifest().error().code == ErrorCode::unavailable);
}
