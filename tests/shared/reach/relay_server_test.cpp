#include "shared/reach/relay_server.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>

#include <string>

#include "shared/base/unique_fd.h"
#include "shared/crypto/certificates.h"
#include "shared/reach/relay_protocol.h"
#include "tests/shared/reach/nobody_may.h"

using namespace starling;
using namespace starling::reach;
using testing::NobodyMay;

namespace {

crypto::TlsContext relay_tls() {
  const WallTime now = SystemClock().wall_now();
  const auto ca = crypto::CertificateAuthority::create("test", now);
  const crypto::PrivateKey key = crypto::PrivateKey::generate();
  crypto::IssueOptions options;
  options.now = now;
  return *crypto::TlsContext::peer(ca->certificate_pem(), {*ca->issue(crypto::make_csr(key), options), key});
}

struct Served {
  explicit Served(RelayLimits limits)
      : server(*RelayServer::create("127.0.0.1", 0, {relay_tls(), clock, rules}, limits)) {}
  // A connection that has sent these words.
  [[nodiscard]] UniqueFd visit(const std::string& words) const {
    UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<std::uint16_t>(server->port()));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0);
    REQUIRE(::send(fd.get(), words.data(), words.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(words.size()));
    return fd;
  }

  SystemClock clock;
  NobodyMay rules;
  std::unique_ptr<RelayServer> server;
};

// Whether the other end hangs up within a minute.
bool ends(const UniqueFd& fd) {
  pollfd waiting{fd.get(), POLLIN, 0};
  if (::poll(&waiting, 1, 60'000) != 1) return false;
  char bytes[256];
  ssize_t got = 1;
  while (got > 0) got = ::recv(fd.get(), bytes, sizeof bytes, 0);
  return got <= 0;
}

}  // namespace

TEST_CASE("whoever does not greet like a caller is hung up on") {
  const Served served({});
  CHECK(ends(served.visit("GET / HTTP/1.1\r\n\r\n")));
  CHECK(ends(served.visit(std::string(kRelayGreeting) + "no TLS record at all, but long enough to be one")));
}

TEST_CASE("whoever greets and then says nothing is not waited for") {
  const Served served({.patience = std::chrono::milliseconds(50)});
  CHECK(ends(served.visit("")));
  CHECK(ends(served.visit(std::string(kRelayGreeting))));
}

TEST_CASE("so many visitors and no more: the oldest that says nothing gives way") {
  const Served served({.visitors_max = 2});
  const UniqueFd first = served.visit(std::string(kRelayGreeting));
  const UniqueFd second = served.visit(std::string(kRelayGreeting));
  const UniqueFd third = served.visit(std::string(kRelayGreeting));
  CHECK(ends(first));
  CHECK(served.server->stats().refused_total == 1);
}
