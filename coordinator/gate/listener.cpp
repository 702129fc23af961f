#include "coordinator/gate/listener.h"

#include <fmt/core.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include "shared/base/log.h"

namespace starling::gate {
namespace {

constexpr int kBacklog = 4096;
constexpr int kAcceptsAtOnce = 64;  // then other connections have their turn
constexpr std::chrono::milliseconds kPause{100};

Error listen_error(const std::string& address, std::uint16_t port) {
  const int error = errno;
  const std::string text =
      fmt::format("listen on {} port {}: {}", address, port, std::generic_category().message(error));
  switch (error) {
    case EADDRINUSE:
      return {ErrorCode::unavailable, text + ". Another program, perhaps another coordinator, uses this port"};
    case EACCES:
      return {ErrorCode::permission_denied, text + ". Ports below 1024 need a privilege; choose another one"};
    case EADDRNOTAVAIL:
      return {ErrorCode::invalid_argument, text + ". This machine does not have that address"};
    default:
      return {ErrorCode::io, text};
  }
}

// This connection is gone or was never good; the next one may be.
bool concerns_one_connection(int error) {
  switch (error) {
    case EINTR:
    case ECONNABORTED:
    case EPROTO:
    case ENETDOWN:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case EOPNOTSUPP:
    case ENETUNREACH:
    case EPERM:
      return true;
    default:
      return false;
  }
}

}  // namespace

Listener::Listener(asio::io_context& io, std::atomic<std::int64_t>& failures)
    : socket_(io), timer_(io), failures_(failures) {}

Status Listener::open(const std::string& address, std::uint16_t port) {
  STARLING_ASSIGN(const SocketAddress parsed, parse_address(address, port));
  const auto* raw = reinterpret_cast<const sockaddr*>(&parsed.storage);
  const int fd = ::socket(parsed.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return listen_error(address, port);
  socket_.assign(fd);
  const int on = 1;
  const int off = 0;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (parsed.storage.ss_family == AF_INET6) ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (::bind(fd, raw, parsed.length) != 0 || ::listen(fd, kBacklog) != 0) return listen_error(address, port);
  sockaddr_storage bound{};
  socklen_t length = sizeof bound;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &length) != 0) return listen_error(address, port);
  // The port is at one offset in both families.
  port_ = ntohs(reinterpret_cast<const sockaddr_in*>(&bound)->sin_port);
  return {};
}

void Listener::start(Accepted accepted) {
  accepted_ = std::move(accepted);
  wait();
}

void Listener::stop() {
  asio::error_code ignored;
  timer_.cancel(ignored);
  socket_.close(ignored);
}

void Listener::wait() {
  socket_.async_wait(asio::posix::stream_descriptor::wait_read, [this](const asio::error_code& error) {
    if (!error) accept_some();
  });
}

void Listener::accept_some() {
  for (int i = 0; i < kAcceptsAtOnce && socket_.is_open(); ++i) {
    sockaddr_storage from{};
    socklen_t length = sizeof from;
    const int fd =
        ::accept4(socket_.native_handle(), reinterpret_cast<sockaddr*>(&from), &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      const int on = 1;
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      last_error_ = 0;
      accepted_(fd, address_of(from));
    } else if (errno == EAGAIN) {
      break;
    } else {
      const int error = errno;
      failures_ += 1;
      if (!concerns_one_connection(error)) return pause(error);
    }
  }
  if (socket_.is_open()) wait();
}

// Out of descriptors or memory, or an unknown error: waiting lets others release some.
void Listener::pause(int error) {
  if (error != last_error_) {
    log_warning("accept a connection: {}; trying again", std::generic_category().message(error));
    last_error_ = error;
  }
  timer_.expires_after(kPause);
  timer_.async_wait([this](const asio::error_code& cancelled) {
    if (!cancelled && socket_.is_open()) accept_some();
  });
}

}  // namespace starling::gate
