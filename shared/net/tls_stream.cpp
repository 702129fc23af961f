#include "shared/net/tls_stream.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace starling::net {
namespace {

constexpr std::size_t kAddressesMax = 8;  // of one name that are tried

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

// A connected socket, non-blocking.
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

Result<int> connect_endpoint(const Endpoint& endpoint, const CancelEvent& cancel, TimePoint deadline) {
  const std::string what = fmt::format("connect to {} port {}", endpoint.host, endpoint.port);
  STARLING_ASSIGN(const std::vector<Address> addresses, resolve(endpoint));
  Error last{ErrorCode::unavailable, what + ": the name has no address"};
  for (std::size_t i = 0; i < addresses.size() && !cancel.is_set(); ++i) {
    // An address that does not answer leaves its share of the time to the others.
    const TimePoint now = monotonic_now();
    const auto left = static_cast<Duration::rep>(addresses.size() - i);
    auto fd = connect_address(addresses[i], cancel, what, now + (deadline - now) / left);
    if (fd.ok()) return fd;
    last = fd.error();
  }
  return last;
}

}  // namespace

TimePoint monotonic_now() { return SystemClock().now(); }

CancelEvent::CancelEvent() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) { VERIFY(fd_ >= 0); }
CancelEvent::~CancelEvent() { close(fd_); }

void CancelEvent::set() {
  const std::uint64_t one = 1;
  VERIFY(write(fd_, &one, sizeof one) == sizeof one || errno == EAGAIN);
}

bool CancelEvent::is_set() const {
  pollfd fd{fd_, POLLIN, 0};
  return poll(&fd, 1, 0) > 0;
}

Result<std::unique_ptr<TlsStream>> TlsStream::connect(const Endpoint& endpoint, const crypto::TlsContext& tls,
                                                      const CancelEvent& cancel, TimePoint deadline) {
  STARLING_ASSIGN(const int fd, connect_endpoint(endpoint, cancel, deadline));
  std::unique_ptr<TlsStream> stream(new TlsStream(fd, cancel));
  STARLING_TRY(stream->handshake(tls, deadline));
  return stream;
}

TlsStream::~TlsStream() {
  if (ssl_ != nullptr) {
    if (SSL_is_init_finished(ssl_) == 1) SSL_shutdown(ssl_);  // says goodbye, waits for no answer
    ERR_clear_error();
    SSL_free(ssl_);
  }
  close(fd_);
}

Status TlsStream::handshake(const crypto::TlsContext& tls, TimePoint deadline) {
  ssl_ = SSL_new(tls.native());
  VERIFY(ssl_ != nullptr && SSL_set_fd(ssl_, fd_) == 1);
  while (true) {
    ERR_clear_error();
    const int result = SSL_connect(ssl_);
    if (result == 1) return {};
    STARLING_TRY(wait_for(result, "set up TLS", deadline));
  }
}

Result<std::size_t> TlsStream::read_some(std::span<char> out, TimePoint deadline) {
  while (true) {
    ERR_clear_error();
    std::size_t size = 0;
    const int result = SSL_read_ex(ssl_, out.data(), out.size(), &size);
    if (result == 1) return size;
    if (SSL_get_error(ssl_, result) == SSL_ERROR_ZERO_RETURN) return std::size_t{0};
    STARLING_TRY(wait_for(result, "receive", deadline));
  }
}

Status TlsStream::write_all(std::string_view bytes, TimePoint deadline) {
  while (!bytes.empty()) {
    ERR_clear_error();
    std::size_t size = 0;
    const int result = SSL_write_ex(ssl_, bytes.data(), bytes.size(), &size);
    if (result == 1) {
      bytes.remove_prefix(size);
    } else if (const Status status = wait_for(result, "send", deadline); !status.ok()) {
      return farewell_or(status.error());
    }
  }
  return {};
}

Error TlsStream::farewell_or(Error error) {
  ERR_clear_error();
  char byte = 0;
  const int result = SSL_read(ssl_, &byte, 1);
  if (result <= 0 && SSL_get_error(ssl_, result) == SSL_ERROR_SSL) {
    Error farewell = crypto::tls_error(ssl_, "send");
    if (farewell.code == ErrorCode::unauthenticated) return farewell;
  }
  ERR_clear_error();
  return error;
}

bool TlsStream::is_alive() {
  ERR_clear_error();
  char byte = 0;
  const int result = SSL_peek(ssl_, &byte, 1);
  // Silence is what an idle connection should show; even data would be a reply that nobody asked for.
  return result <= 0 && SSL_get_error(ssl_, result) == SSL_ERROR_WANT_READ;
}

Status TlsStream::wait_for(int result, std::string_view what, TimePoint deadline) {
  const int saved_errno = errno;
  switch (SSL_get_error(ssl_, result)) {
    case SSL_ERROR_WANT_READ:
      return wait_fd(fd_, POLLIN, cancel_, what, deadline);
    case SSL_ERROR_WANT_WRITE:
      return wait_fd(fd_, POLLOUT, cancel_, what, deadline);
    case SSL_ERROR_SYSCALL:
      ERR_clear_error();
      return Error{ErrorCode::unavailable,
                   fmt::format("{}: {}", what, saved_errno != 0 ? std::strerror(saved_errno) : "connection closed")};
    default:
      return crypto::tls_error(ssl_, what);
  }
}

}  // namespace starling::net
