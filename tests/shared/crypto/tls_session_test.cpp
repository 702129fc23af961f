#include "shared/crypto/tls_session.h"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <string>

#include "shared/crypto/certificates.h"

using namespace starling;
using namespace starling::crypto;
using State = TlsSession::State;

namespace {

const WallTime kNow = SystemClock().wall_now();

// Two sessions over a socket pair whose ends never block.
class Pair {
 public:
  Pair() {
    std::signal(SIGPIPE, SIG_IGN);
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds_) == 0);
    const PrivateKey key = PrivateKey::generate();
    const TlsIdentity identity{*authority_.issue(make_csr(key), {.now = kNow}), key};
    const TlsContext context = *TlsContext::peer(authority_.certificate_pem(), identity);
    client.emplace(TlsSession::client(context, fds_[0]));
    server.emplace(TlsSession::server(context, fds_[1]));
  }
  ~Pair() {
    client.reset();
    server.reset();
    ::close(fds_[0]);
    ::close(fds_[1]);
  }
  void shake_hands() {
    constexpr int kStepsMax = 10;
    State a = State::want_read;
    State b = State::want_read;
    for (int i = 0; i < kStepsMax && (a != State::done || b != State::done); ++i) {
      a = client->handshake().state;
      b = server->handshake().state;
    }
    REQUIRE(a == State::done);
    REQUIRE(b == State::done);
  }
  void cut() { REQUIRE(shutdown(fds_[0], SHUT_RDWR) == 0); }

  std::optional<TlsSession> client;
  std::optional<TlsSession> server;

 private:
  CertificateAuthority authority_ = *CertificateAuthority::create("Test", kNow);
  int fds_[2] = {-1, -1};
};

}  // namespace

TEST_CASE("a session says what it waits for, and passes bytes once it is set up") {
  Pair pair;
  CHECK(pair.server->handshake().state == State::want_read);
  pair.shake_hands();
  char buffer[16];
  CHECK(pair.server->read(buffer).state == State::want_read);
  CHECK(pair.server->is_silent());
  CHECK(pair.client->write("hello").size == 5);
  CHECK(!pair.server->is_silent());
  const auto step = pair.server->read(buffer);
  CHECK(step.state == State::done);
  CHECK(std::string(buffer, step.size) == "hello");
}

TEST_CASE("a writer that nobody reads from is told to wait") {
  Pair pair;
  pair.shake_hands();
  const std::string bytes(1 << 20, 'x');
  std::string_view left = bytes;
  TlsSession::Step step;
  while (!left.empty() && (step = pair.client->write(left)).state == State::done) left.remove_prefix(step.size);
  CHECK(step.state == State::want_write);
}

TEST_CASE("a goodbye and a lost connection are told apart") {
  char buffer[16];
  SUBCASE("goodbye") {
    Pair pair;
    pair.shake_hands();
    pair.client->close();
    CHECK(pair.server->read(buffer).state == State::closed);
    CHECK(!pair.server->is_silent());
  }
  SUBCASE("lost") {
    Pair pair;
    pair.shake_hands();
    pair.cut();
    const auto step = pair.server->read(buffer);
    CHECK(step.state == State::failed);
    CHECK(step.error.code == ErrorCode::unavailable);
    CHECK(pair.server->write("x").error.code == ErrorCode::unavailable);
  }
}
