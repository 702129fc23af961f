#include "client/transport/tls_stream.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <numeric>

#include "tests/client/transport/swarm.h"

using namespace starling;
using namespace starling::transport;
using namespace starling::transport::testing;

namespace {

// Two streams over a pair of non-blocking sockets, driven in turn by one thread.
struct Pair {
  explicit Pair(std::int64_t rekey_bytes = TlsStream::kRekeyBytes) {
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, sockets) == 0);
    const WallTime now = SystemClock().wall_now();
    dialler.emplace(dialler_tls, sockets[0], TlsStream::Role::client, now, rekey_bytes);
    acceptor.emplace(acceptor_tls, sockets[1], TlsStream::Role::server, now, rekey_bytes);
  }
  ~Pair() {
    dialler.reset();
    acceptor.reset();
    for (const int socket : sockets) ::close(socket);
  }
  void shake_hands() {
    bool both = false;
    for (int i = 0; i < 10 && !both; ++i) {
      both = dialler->handshake() == IoState::done;
      both = acceptor->handshake() == IoState::done && both;
    }
    REQUIRE(both);
  }
  // Moves all of `bytes` from one to the other; returns what came out.
  static std::vector<std::uint8_t> move(TlsStream& from, TlsStream& to, std::span<const std::uint8_t> bytes) {
    std::vector<std::uint8_t> got(bytes.size());
    std::size_t sent = 0;
    std::size_t received = 0;
    while (received < got.size()) {
      while (sent < bytes.size()) {
        const IoStep step = from.write(bytes.subspan(sent));
        if (step.state != IoState::done) {
          REQUIRE_MESSAGE(step.state == IoState::want_write, from.error().message);
          break;
        }
        sent += step.bytes;
      }
      (void)from.flush();
      while (received < got.size()) {
        const IoStep step = to.read(std::span(got).subspan(received));
        if (step.state != IoState::done) {
          REQUIRE(step.state == IoState::want_read);
          break;
        }
        received += step.bytes;
      }
    }
    return got;
  }

  const Project project;
  crypto::PrivateKey dialler_key = crypto::PrivateKey::generate();
  crypto::PrivateKey acceptor_key = crypto::PrivateKey::generate();
  crypto::TlsContext dialler_tls = project.context(project.identity(dialler_key));
  crypto::TlsContext acceptor_tls = project.context(project.identity(acceptor_key));
  int sockets[2] = {-1, -1};
  std::optional<TlsStream> dialler;
  std::optional<TlsStream> acceptor;
};

std::vector<std::uint8_t> counting(std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i * 31 + i / 255);
  return bytes;
}

}  // namespace

TEST_CASE("both ends know each other after the handshake") {
  Pair pair;
  pair.shake_hands();
  CHECK(*pair.dialler->peer() == pair.acceptor_key.peer_id());
  CHECK(*pair.acceptor->peer() == pair.dialler_key.peer_id());
}

TEST_CASE("bytes come out as they went in, though the socket takes few at a time") {
  Pair pair;
  pair.shake_hands();
  const auto bytes = counting(3'000'000);
  CHECK((Pair::move(*pair.dialler, *pair.acceptor, bytes) == bytes));
  CHECK((Pair::move(*pair.acceptor, *pair.dialler, bytes) == bytes));
}

TEST_CASE("new keys are taken while data flows both ways") {
  Pair pair(100'000);
  pair.shake_hands();
  const auto bytes = counting(2'500'000);
  CHECK((Pair::move(*pair.dialler, *pair.acceptor, bytes) == bytes));
  CHECK((Pair::move(*pair.acceptor, *pair.dialler, bytes) == bytes));
}

TEST_CASE("a stream whose other end is gone says so, after giving out what came before") {
  Pair pair;
  pair.shake_hands();
  const auto bytes = counting(1000);
  REQUIRE(pair.dialler->write(bytes).bytes == bytes.size());
  REQUIRE(pair.dialler->flush() == IoState::done);
  ::shutdown(pair.sockets[0], SHUT_RDWR);
  std::vector<std::uint8_t> got(2000);
  CHECK(pair.acceptor->read(got).bytes == bytes.size());
  CHECK(pair.acceptor->read(got).state == IoState::closed);
  (void)pair.acceptor->write(bytes);
  CHECK(pair.acceptor->flush() == IoState::closed);
}

TEST_CASE("changed bytes on the way are noticed") {
  Pair pair;
  pair.shake_hands();
  const auto bytes = counting(1000);
  REQUIRE(pair.dialler->write(bytes).bytes == bytes.size());
  REQUIRE(pair.dialler->flush() == IoState::done);
  std::vector<std::uint8_t> record(4096);
  const ssize_t size = ::recv(pair.sockets[1], record.data(), record.size(), 0);
  REQUIRE(size > 1000);
  record[500] ^= 1;
  REQUIRE(::send(pair.sockets[0], record.data(), static_cast<std::size_t>(size), 0) == size);
  std::vector<std::uint8_t> got(2000);
  CHECK(pair.acceptor->read(got).state == IoState::failed);
}
