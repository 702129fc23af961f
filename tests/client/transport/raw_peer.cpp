#include "tests/client/transport/raw_peer.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace starling::transport::testing {

RawPeer::RawPeer(int port, const char* from) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const timeval patience{.tv_sec = 20, .tv_usec = 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  // The product's links set this option too; without it the second half of a frame may wait for a delayed
  // acknowledgement.
  const int on = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  REQUIRE(::inet_pton(AF_INET, from, &address.sin_addr) == 1);
  REQUIRE(::bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
}

RawPeer::RawPeer(int port, const crypto::TlsContext& tls, const char* from) : RawPeer(port, from) {
  stream_.emplace(tls, PeerTlsStream::Socket{socket_, buffers_}, PeerTlsStream::Role::client, SystemClock().wall_now());
  (void)stream_->handshake();  // a refusal shows in the first read
}

RawPeer::~RawPeer() {
  stream_.reset();
  ::close(socket_);
}

void RawPeer::send_plain(std::span<const std::uint8_t> bytes) const {
  CHECK(::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()));
}

// The other end may cut us off at any byte; a test that cares calls is_cut_off().
void RawPeer::send(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const IoStep step = stream_->write(bytes);
    if (step.state != IoState::done) return;
    bytes = bytes.subspan(step.bytes);
  }
  (void)stream_->flush();
}

bool RawPeer::has_ended() const {
  char byte = 0;
  const ssize_t got = ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN);
}

std::vector<std::uint8_t> RawPeer::header(wire::FrameType type, std::size_t payload_bytes, const GroupId& group) {
  wire::FrameHeader header;
  header.type = type;
  header.payload_bytes = static_cast<std::uint32_t>(payload_bytes);
  header.group = group;
  const bool first = type == wire::FrameType::hello || type == wire::FrameType::join;
  if (!first) {
    header.number = sent.number(type);
    sent.add(type);
  }
  std::vector<std::uint8_t> bytes(wire::kFrameHeaderBytes);
  wire::encode_header(header, std::span(bytes).first<wire::kFrameHeaderBytes>());
  return bytes;
}

void RawPeer::send_header(wire::FrameType type, std::size_t payload_bytes, const GroupId& group) {
  send(header(type, payload_bytes, group));
}

void RawPeer::say_hello(const std::string& run_id) {
  wire::Hello hello;
  hello.run_id = run_id;
  const auto bytes = wire::encode(hello);
  send_header(wire::FrameType::hello, bytes.size());
  send(bytes);
  CHECK(next_frame() == wire::FrameType::hello);
  const auto answer = wire::decode_hello(payload);
  REQUIRE(answer.ok());
  token = answer->token;
}

bool RawPeer::join(const wire::LinkToken& link) {
  const auto bytes = wire::encode(wire::Join{link});
  send_header(wire::FrameType::join, bytes.size());
  send(bytes);
  return next_frame() == wire::FrameType::join;
}

bool RawPeer::read_exactly(std::span<std::uint8_t> out) {
  while (!out.empty()) {
    const IoStep step = stream_->read(out);
    if (step.state != IoState::done) return false;
    out = out.subspan(step.bytes);
  }
  return true;
}

std::optional<wire::FrameType> RawPeer::next_frame() {
  std::array<std::uint8_t, wire::kFrameHeaderBytes> bytes{};
  if (!read_exactly(bytes)) return std::nullopt;
  const auto header = wire::decode_header(bytes);
  if (!header.ok()) return std::nullopt;
  segment = header->segment;
  payload.resize(header->payload_bytes);
  if (!payload.empty() && !read_exactly(payload)) return std::nullopt;
  return header->type;
}

bool RawPeer::is_cut_off() {
  std::array<std::uint8_t, 4096> bytes{};
  while (true) {
    const ssize_t got = ::recv(socket_, bytes.data(), bytes.size(), 0);
    if (got == 0) return true;
    if (got < 0) return errno == ECONNRESET || errno == EPIPE;
  }
}

}  // namespace starling::transport::testing
