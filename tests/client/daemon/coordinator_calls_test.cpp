#include "client/daemon/coordinator_calls.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/socket.h>

#include <optional>
#include <thread>

#include "shared/base/unique_fd.h"
#include "shared/crypto/certificates.h"
#include "shared/protocol/heartbeat.h"

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

std::unique_ptr<CoordinatorCalls> calls_to(const SilentServer& server, CorrectedClock& clock) {
  const auto ca = *crypto::CertificateAuthority::create("test", clock.wall_now());
  const crypto::PrivateKey key = crypto::PrivateKey::generate();
  crypto::IssueOptions options;
  options.now = clock.wall_now();
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
