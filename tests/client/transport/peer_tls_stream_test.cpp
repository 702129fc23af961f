#include "client/transport/peer_tls_stream.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <openssl/ssl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <numeric>

#include "tests/client/transport/swarm.h"

using namespace starling;
using namespace starling::transport;
using namespace starling::transport::testing;

namespace {

// Number of buffers that are in use.
std::size_t taken(const PeerTlsStream::Buffers& buffers) {
  return buffers.record.taken() + buffers.small.taken() + buffers.usual.taken() + buffers.large.taken();
}

// Two streams over a pair of non-blocking sockets, driven in turn by one thread.
struct Pair {
  explicit Pair(std::int64_t rekey_bytes = PeerTlsStream::kRekeyBytes) {
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, sockets) == 0);
    const WallTime now = SystemClock().wall_now();
    dialler.emplace(dialler_tls, PeerTlsStream::Socket{sockets[0], buffers}, PeerTlsStream::Role::client, now,
                    rekey_bytes);
    acceptor.emplace(acceptor_tls, PeerTlsStream::Socket{sockets[1], buffers}, PeerTlsStream::Role::server, now,
                     rekey_bytes);
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
  // Moves all of `bytes` from one stream to the other; returns the received bytes.
  static std::vector<std::uint8_t> move(PeerTlsStream& from, PeerTlsStream& to, std::span<const std::uint8_t> bytes) {
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
  std::shared_ptr<PeerTlsStream::Buffers> buffers = std::make_shared<PeerTlsStream::Buffers>();
  std::optional<PeerTlsStream> dialler;
  std::optional<PeerTlsStream> acceptor;
};

// A stream with OpenSSL alone at the other end.
struct MixedPair {
  explicit MixedPair(PeerTlsStream::Role role, std::int64_t rekey_bytes = PeerTlsStream::kRekeyBytes) {
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, sockets) == 0);
    stream.emplace(tls, PeerTlsStream::Socket{sockets[0], buffers}, role, SystemClock().wall_now(), rekey_bytes);
    SSL_set_fd(other.get(), sockets[1]);
    role == PeerTlsStream::Role::client ? SSL_set_accept_state(other.get()) : SSL_set_connect_state(other.get());
  }
  ~MixedPair() {
    stream.reset();
    for (const int socket : sockets) ::close(socket);
  }
  void shake_hands() {
    bool both = false;
    for (int i = 0; i < 10 && !both; ++i) {
      both = SSL_do_handshake(other.get()) == 1;
      both = stream->handshake() == IoState::done && both;
    }
    REQUIRE(both);
  }
  // Moves all of `bytes` there and back.
  std::vector<std::uint8_t> echo(std::span<const std::uint8_t> bytes) {
    std::vector<std::uint8_t> there;
    std::vector<std::uint8_t> back;
    std::vector<std::uint8_t> piece(5000);
    std::size_t sent = 0;
    std::size_t returned = 0;
    for (int idle = 0; back.size() < bytes.size() && idle < 1000; ++idle) {
      const std::size_t before = back.size() + there.size();
      if (sent < bytes.size()) sent += stream->write(bytes.subspan(sent)).bytes;
      (void)stream->flush();
      std::size_t moved = 0;
      if (SSL_read_ex(other.get(), piece.data(), piece.size(), &moved) == 1) {
        there.insert(there.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(moved));
      }
      if (returned < there.size() &&
          SSL_write_ex(other.get(), there.data() + returned, there.size() - returned, &moved) == 1) {
        returned += moved;
      }
      const IoStep step = stream->read(piece);
      REQUIRE_MESSAGE(step.state != IoState::failed, stream->error().message);
      back.insert(back.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(step.bytes));
      if (back.size() + there.size() > before) idle = 0;
    }
    return back;
  }

  const Project project;
  const crypto::TlsContext tls = project.context(project.identity(crypto::PrivateKey::generate()));
  int sockets[2] = {-1, -1};
  std::shared_ptr<PeerTlsStream::Buffers> buffers = std::make_shared<PeerTlsStream::Buffers>();
  std::optional<PeerTlsStream> stream;
  std::unique_ptr<SSL, decltype(&SSL_free)> other{SSL_new(tls.native()), SSL_free};
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

TEST_CASE("a handshake that waits for the other end leaves its buffers to others") {
  Pair pair;
  CHECK(pair.dialler->handshake() == IoState::want_read);
  CHECK(pair.acceptor->handshake() == IoState::want_read);
  CHECK(taken(*pair.buffers) == 0);
  CHECK_FALSE(pair.dialler->peer().ok());
  CHECK(pair.dialler->handshake() == IoState::done);
  CHECK(pair.acceptor->handshake() == IoState::done);
  CHECK(pair.acceptor->peer().ok());
}

TEST_CASE("bytes come out as they went in, though the socket takes few at a time") {
  Pair pair;
  pair.shake_hands();
  const auto bytes = counting(3'000'000);
  CHECK((Pair::move(*pair.dialler, *pair.acceptor, bytes) == bytes));
  CHECK((Pair::move(*pair.acceptor, *pair.dialler, bytes) == bytes));
}

TEST_CASE("a stream gathers as much output as it may, from the next buffer on") {
  Pair pair;
  pair.shake_hands();
  const auto bytes = counting(1'000'000);
  const auto gathered = [&] {  // bytes beside those that the socket takes
    std::size_t sum = 0;
    for (IoStep step; (step = pair.dialler->write(bytes)).state == IoState::done;) sum += step.bytes;
    return sum;
  };
  const auto drain = [&] {
    std::vector<std::uint8_t> got(bytes.size());
    bool sent = false;
    for (bool more = true; !sent || more;) {
      sent = pair.dialler->flush() == IoState::done;
      more = pair.acceptor->read(got).state == IoState::done;
    }
    pair.dialler->rest();
    pair.acceptor->rest();
    CHECK(taken(*pair.buffers) == 0);
  };
  const std::size_t little = gathered();
  pair.dialler->gather_output(bytes.size());
  CHECK(gathered() == 0);
  drain();
  const std::size_t much = gathered();
  CHECK(much > little + PeerTlsStream::kLargeBufferBytes / 2);
  CHECK(pair.buffers->large.taken() == 1);
  pair.dialler->gather_output(0);
  CHECK(gathered() == 0);
  drain();
  CHECK(gathered() < much - PeerTlsStream::kLargeBufferBytes / 2);
  CHECK(pair.buffers->large.taken() == 0);
  drain();
  CHECK((Pair::move(*pair.dialler, *pair.acceptor, bytes) == bytes));
}

TEST_CASE("a stream takes as much input at a time as it may, from the next buffer on") {
  Pair pair;
  pair.shake_hands();
  const auto bytes = counting(7 * RecordCipher::kPlaintextMax);
  std::vector<std::uint8_t> got(bytes.size());
  const auto left_in_socket = [&](std::size_t read_ahead) {
    pair.dialler->gather_output(bytes.size());
    for (std::size_t sent = 0; sent < bytes.size();) {
      sent += pair.dialler->write(std::span(bytes).subspan(sent)).bytes;
    }
    REQUIRE(pair.dialler->flush() == IoState::done);
    pair.acceptor->read_ahead(read_ahead);
    std::size_t read = pair.acceptor->read(got).bytes;
    int left = 0;
    REQUIRE(::ioctl(pair.sockets[1], FIONREAD, &left) == 0);
    CHECK(pair.acceptor->has_record());
    while (read < bytes.size()) {
      const IoStep step = pair.acceptor->read(std::span(got).subspan(read));
      REQUIRE(step.state == IoState::done);
      read += step.bytes;
    }
    CHECK(!pair.acceptor->has_record());
    CHECK((got == bytes));
    pair.dialler->rest();
    pair.acceptor->rest();
    CHECK(taken(*pair.buffers) == 0);
    return left;
  };
  CHECK(left_in_socket(0) > 2 * static_cast<int>(RecordCipher::kPlaintextMax));
  CHECK(left_in_socket(bytes.size() + 1000) == 0);
  CHECK(left_in_socket(0) > 2 * static_cast<int>(RecordCipher::kPlaintextMax));
}

TEST_CASE("a pool that is trimmed keeps what somebody has") {
  BufferPool pool(100);
  BufferPool::Buffer kept = pool.take();
  kept[99] = 7;
  pool.take().reset();
  pool.trim();
  CHECK(pool.taken() == 1);
  CHECK(kept[99] == 7);
  CHECK(pool.take() != nullptr);
  kept.reset();
  CHECK(pool.taken() == 0);
}

TEST_CASE("a stream at rest leaves its buffers to others, in the middle of a record, too") {
  Pair pair;
  pair.shake_hands();
  std::vector<std::uint8_t> got(PeerTlsStream::kBufferBytes);
  const auto bytes = counting(30'000);
  const auto rest_both = [&] {
    pair.dialler->rest();
    pair.acceptor->rest();
    return taken(*pair.buffers);
  };
  CHECK(rest_both() == 0);
  // Bytes that the socket does not take stay in the buffer.
  while (pair.dialler->write(bytes).state == IoState::done) continue;
  CHECK(rest_both() == 1);
  while (pair.dialler->flush() == IoState::want_write) {
    while (pair.acceptor->read(got).state == IoState::done) continue;
  }
  while (pair.acceptor->read(got).state == IoState::done) continue;
  CHECK(rest_both() == 0);

  // The first record and a half, then the rest of the second.
  std::vector<std::uint8_t> records(50'000);
  REQUIRE(pair.dialler->write(bytes).bytes == RecordCipher::kPlaintextMax);
  REQUIRE(pair.dialler->write(std::span(bytes).subspan(RecordCipher::kPlaintextMax)).state == IoState::done);
  REQUIRE(pair.dialler->flush() == IoState::done);
  const ssize_t size = ::recv(pair.sockets[1], records.data(), records.size(), 0);
  REQUIRE(size > 30'000);
  const auto half = static_cast<std::size_t>(size) - 5'000;
  REQUIRE(::send(pair.sockets[0], records.data(), half, 0) == static_cast<ssize_t>(half));
  CHECK(pair.acceptor->read(got).bytes == RecordCipher::kPlaintextMax);
  CHECK(pair.acceptor->read(std::span(got).subspan(RecordCipher::kPlaintextMax)).state == IoState::want_read);
  CHECK(rest_both() == 0);
  REQUIRE(::send(pair.sockets[0], records.data() + half, 5'000, 0) == 5'000);
  CHECK(pair.acceptor->read(std::span(got).subspan(RecordCipher::kPlaintextMax)).bytes ==
        bytes.size() - RecordCipher::kPlaintextMax);
  got.resize(bytes.size());
  CHECK((got == bytes));
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
  REQUIRE(pair.dialler->write(bytes).bytes == bytes.size());
  REQUIRE(pair.dialler->flush() == IoState::done);
  CHECK(pair.acceptor->read(got).state == IoState::failed);  // everything after it fails, too
}

TEST_CASE("whoever has OpenSSL alone notices no difference, whichever end dialled, and takes and gives new keys") {
  for (const PeerTlsStream::Role role : {PeerTlsStream::Role::client, PeerTlsStream::Role::server}) {
    MixedPair pair(role, 100'000);
    pair.shake_hands();
    const auto bytes = counting(600'000);
    CHECK((pair.echo(bytes) == bytes));
    REQUIRE(SSL_key_update(pair.other.get(), SSL_KEY_UPDATE_REQUESTED) == 1);
    CHECK((pair.echo(bytes) == bytes));
    REQUIRE(SSL_set_block_padding(pair.other.get(), 4096) == 1);
    CHECK((pair.echo(bytes) == bytes));
    (void)SSL_shutdown(pair.other.get());
    std::vector<std::uint8_t> got(10);
    CHECK(pair.stream->read(got).state == IoState::closed);
  }
}

TEST_CASE("why the other end gives up is told") {
  MixedPair pair(PeerTlsStream::Role::client);
  pair.shake_hands();
  std::vector<std::uint8_t> junk = {23, 3, 3, 0, 40};
  junk.resize(45);
  REQUIRE(::send(pair.sockets[0], junk.data(), junk.size(), 0) == 45);
  std::vector<std::uint8_t> got(10);
  std::size_t bytes = 0;
  CHECK(SSL_read_ex(pair.other.get(), got.data(), got.size(), &bytes) == 0);
  CHECK(pair.stream->read(got).state == IoState::failed);
  CHECK(pair.stream->error().message == "link: sslv3 alert bad record mac");
}

TEST_CASE("records without data are taken, but not for ever") {
  Pair pair;
  pair.shake_hands();
  std::vector<std::uint8_t> got(10);
  for (int i = 0; i < 20; ++i) REQUIRE(pair.dialler->write({}).state == IoState::done);
  REQUIRE(pair.dialler->write(counting(5)).bytes == 5);
  REQUIRE(pair.dialler->flush() == IoState::done);
  CHECK(pair.acceptor->read(got).bytes == 5);
  for (int i = 0; i < 40; ++i) REQUIRE(pair.dialler->write({}).state == IoState::done);
  REQUIRE(pair.dialler->flush() == IoState::done);
  CHECK(pair.acceptor->read(got).state == IoState::failed);
}

TEST_CASE("at every byte of a stream of records, no more is asked for than must come, and little less") {
  const std::vector<std::size_t> sizes = {1, 32, 16384, 300, 4000};
  for (const std::size_t piece : {1U, 7U, 1000U, 65536U}) {
    CAPTURE(piece);
    Pair pair;
    pair.shake_hands();
    for (const std::size_t size : sizes) REQUIRE(pair.dialler->write(counting(size)).bytes == size);
    REQUIRE(pair.dialler->flush() == IoState::done);
    std::vector<std::uint8_t> stream(65536);
    const ssize_t size = ::recv(pair.sockets[1], stream.data(), stream.size(), 0);
    REQUIRE(size > 0);
    stream.resize(static_cast<std::size_t>(size));
    std::size_t left = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
    std::vector<std::uint8_t> got(left);
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      const std::size_t missing = stream.size() - at;
      const std::size_t before_all = pair.acceptor->input_before(left);
      REQUIRE(before_all <= missing);
      REQUIRE(missing - before_all <= 22 * sizes.size());
      const std::size_t before_any = pair.acceptor->input_before(1);
      REQUIRE(before_any >= 1);
      const std::size_t sent = std::min(piece, missing);
      REQUIRE(::send(pair.sockets[0], &stream[at], sent, 0) == static_cast<ssize_t>(sent));
      std::size_t came = 0;
      while (true) {
        const IoStep step = pair.acceptor->read(got);
        if (step.state != IoState::done) break;
        came += step.bytes;
      }
      if (sent < before_any) REQUIRE(came == 0);
      left -= came;
    }
    CHECK(left == 0);
    CHECK(pair.acceptor->drained());
  }
}
