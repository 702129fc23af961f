#include "shared/net/tls_stream.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace starling::net {
namespace {

constexpr std::size_t kAddressesMax = 8;  // addresses of one name that are tried

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

Error deadline_error(std::string_view what) {
  return {ErrorCode::deadline_exceeded, std::string(what) + ": no answer in time"};
}

// Waits until `fd` has one of `events`. Rounds up to a whole millisecond, so that it does not spin at the end.
Status wait_fd(int fd, short events, const CancelEvent& cancel, std::string_view what, TimePoint deadline) {
  while (true) {
    const Duration left = deadline - monotonic_now();
    if (left <= Duration::zero()) return deadline_error(what);
    const std::int64_t timeout_ms = std::min<std::int64_t>(to_ms(left) + 1, 60'000);
    pollfd fds[] = {{fd, events, 0}, {cancel.fd(), POLLIN, 0}};
    const int ready = poll(fds, 2, static_cast<int>(timeout_ms));
    if (ready < 0 && errno != EINTR) return Error{ErrorCode::io, fmt::format("{}: {}", what, std::strerror(errno))};
    if (ready > 0 && fds[1].revents != 0) return Error{ErrorCode::unavailable, fmt::format("{}: cancelled", what)};
    if (ready > 0 && fds[0].revents != 0) return {};
  }
}

Result<std::vector<Address>> resolve(const Endpoint& endpoint) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* list = nullptr;
  if (const int code = getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(), &hints, &list);
      code != 0) {
    return Error{ErrorCode::unavailable, fmt::format("look up '{}': {}", endpoint.host, gai_strerror(code))};
  }
  std::vector<Address> addresses;
  for (const addrinfo* at = list; at != nullptr && addresses.size() < kAddressesMax; at = at->ai_next) {
    Address address;
    std::memcpy(&address.storage, at->ai_addr, at->ai_addrlen);
    address.size = at->ai_addrlen;
    addresses.push_back(address);
  }
  freeaddrinfo(list);
  return addresses;
}

// Returns a connected, non-blocking socket.
Result<int> connect_address(const Address& address, const CancelEvent& cancel, std::string_view what,
                            TimePoint deadline) {
  const int fd = socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return Error{ErrorCode::resource_exhausted, fmt::format("{}: {}", what, std::strerror(errno))};
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  Status status;
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address.storage), address.size) != 0) {
    int error = errno;
    if (error == EINPROGRESS) {
      status = wait_fd(fd, POLLOUT, cancel, what, deadline);
      socklen_t size = sizeof error;
      if (status.ok()) getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    }
    if (status.ok() && error != 0) {
      status = Error{ErrorCode::unavailable, fmt::format("{}: {}", what, std::strerror(error))};
    }
  }
  if (status.ok()) return fd;
  close(fd);
  return status.error();
}

// Numeric address, such as "192.0.2.1".
std::string text_of(const Address& address) {
  char text[NI_MAXHOST] = "";
  getnameinfo(reinterpret_cast<const sockaddr*>(&address.storage), address.size, text, sizeof text, nullptr, 0,
              NI_NUMERICHOST);
  return text;
}

Result<int> connect_endpoint(const Endpoint& endpoint, const CancelEvent& cancel, TimePoint deadline) {
  const std::string what = fmt::format("connect to {} port {}", endpoint.host, endpoint.port);
  STARLING_ASSIGN(const std::vector<Address> addresses, resolve(endpoint));
  Error last{ErrorCode::unavailable, what + ": the name has no address"};
  for (std::size_t i = 0; i < addresses.size() && !cancel.is_set(); ++i) {
    // An address that does not answer uses only its share of the time; the others keep theirs.
    const TimePoint now = monotonic_now();
    const auto left = static_cast<Duration::rep>(addresses.size() - i);
    auto fd = connect_address(addresses[i], cancel, what, now + (deadline - now) / left);
    if (fd.ok()) return fd;
    last = fd.error();
  }
  return last;
}

}  // namespace

Result<std::unique_ptr<TlsStream>> TlsStream::connect(const Endpoint& endpoint, const crypto::TlsContext& tls,
                                                      const CancelEvent& cancel, TimePoint deadline, Line* line) {
  STARLING_ASSIGN(const int fd, connect_endpoint(endpoint, cancel, deadline));
  return open(
      std::unique_ptr<TlsStream>(new TlsStream(UniqueFd(fd), crypto::TlsSession::client(tls, fd), cancel, line)),
      deadline);
}

Result<std::unique_ptr<TlsStream>> TlsStream::accept(UniqueFd socket, const crypto::TlsContext& tls,
                                                     const CancelEvent& cancel, TimePoint deadline) {
  const int fd = socket.get();
  return open(std::unique_ptr<TlsStream>(
                  new TlsStream(std::move(socket), crypto::TlsSession::server(tls, fd), cancel, nullptr)),
              deadline);
}

Result<std::unique_ptr<TlsStream>> TlsStream::open(std::unique_ptr<TlsStream> stream, TimePoint deadline) {
  TlsStream* const self = stream.get();
  STARLING_TRY(self->drive("set up TLS", deadline, [self] { return self->session_.handshake(); }).status());
  return stream;
}

std::string TlsStream::remote_address() const {
  Address address;
  address.size = sizeof address.storage;
  getpeername(socket_.get(), reinterpret_cast<sockaddr*>(&address.storage), &address.size);
  return text_of(address);
}

TlsStream::~TlsStream() { session_.close(); }

Result<std::size_t> TlsStream::await_turn(std::size_t wanted) {
  const LineAccount::Turn turn = account_.download_turn(wanted);
  STARLING_TRY(cancel_.wait_until(turn.due, "receive"));
  return turn.bytes;
}

template <typename Call>
Result<std::size_t> TlsStream::drive(std::string_view what, TimePoint deadline, const Call& step) {
  using State = crypto::TlsSession::State;
  while (true) {
    const crypto::TlsSession::Step taken = step();
    switch (taken.state) {
      case State::done:
        return taken.size;
      case State::closed:
        return std::size_t{0};
      case State::failed:
        return taken.error;
      case State::want_read:
        STARLING_TRY(wait_fd(socket_.get(), POLLIN, cancel_, what, deadline));
        break;
      case State::want_write:
        STARLING_TRY(wait_fd(socket_.get(), POLLOUT, cancel_, what, deadline));
        break;
    }
  }
}

Result<std::size_t> TlsStream::read_some(std::span<char> out, TimePoint deadline) {
  auto size = drive("receive", deadline, [&] { return session_.read(out); });
  account_.settle();
  return size;
}

Status TlsStream::write_all(std::string_view bytes, TimePoint deadline) {
  const bool is_bulk = bytes.size() > kBulkBytes;
  while (!bytes.empty()) {
    std::string_view piece = bytes;
    if (is_bulk) {
      const LineAccount::Turn turn = account_.upload_turn(bytes.size());
      STARLING_TRY(cancel_.wait_until(std::min(turn.due, deadline), "send"));
      piece = bytes.substr(0, turn.bytes);
    }
    STARLING_ASSIGN(const std::size_t size, drive("send", deadline, [&] { return session_.write(piece); }));
    if (size == 0) return Error{ErrorCode::unavailable, "send: the other end closed the connection"};
    bytes.remove_prefix(size);
  }
  account_.settle();
  return {};
}

}  // namespace starling::net
