#include "client/daemon/control_server.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace starling::daemon {
namespace {

constexpr int kAcceptRetryMs = 100;
constexpr timeval kSendPatience{.tv_sec = 5, .tv_usec = 0};  // for a program that does not take its answer

Error socket_error(std::string_view what, const std::filesystem::path& path) {
  return {ErrorCode::io, fmt::format("{} '{}': {}", what, path.string(), std::strerror(errno))};
}

bool same_user(int fd) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return false;
  return credentials.uid == ::geteuid() || credentials.uid == 0;
}

bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

// Returns the next line of `buffer`, reading more as needed; empty when the connection is over or the line too long.
std::string read_line(int fd, std::string& buffer) {
  while (true) {
    if (const std::size_t end = buffer.find('\n'); end != std::string::npos) {
      std::string line = buffer.substr(0, end);
      buffer.erase(0, end + 1);
      return line;
    }
    if (buffer.size() > wire::kControlLineBytesMax) return "";
    char chunk[4096];
    const ssize_t got = ::recv(fd, chunk, sizeof chunk, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return "";
    buffer.append(chunk, static_cast<std::size_t>(got));
  }
}

}  // namespace

Result<std::unique_ptr<ControlServer>> ControlServer::create(const std::filesystem::path& socket, Handler handler) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = socket.string();
  if (path.size() >= sizeof address.sun_path) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("control socket '{}': the path is longer than the {} bytes a Unix socket can have; use a "
                             "shorter data directory",
                             path, sizeof address.sun_path - 1)};
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return socket_error("control socket", socket);
  ::unlink(path.c_str());
  // Nobody may connect between bind and chmod: the data directory itself is 0700.
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::chmod(path.c_str(), 0600) != 0 || ::listen(fd, 16) != 0) {
    const Error error = socket_error("control socket", socket);
    ::close(fd);
    return error;
  }
  return std::unique_ptr<ControlServer>(new ControlServer(fd, socket, std::move(handler)));
}

ControlServer::ControlServer(int listener, std::filesystem::path socket, Handler handler)
    : listener_(listener), socket_(std::move(socket)), handler_(std::move(handler)) {
  accept_thread_ = std::thread([this] { accept_loop(); });
}

ControlServer::~ControlServer() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    // The caller that asked for the end still hears that it comes.
    for (Connection& connection : connections_) ::shutdown(connection.fd, SHUT_RD);
  }
  ::shutdown(listener_, SHUT_RDWR);  // wakes accept()
  accept_thread_.join();
  std::list<Connection> connections;
  {
    const MutexLock lock(mutex_);
    connections.swap(connections_);
  }
  for (Connection& connection : connections) {
    connection.thread.join();
    ::close(connection.fd);
  }
  ::close(listener_);
  ::unlink(socket_.c_str());
}

void ControlServer::accept_loop() {
  while (true) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    {
      const MutexLock lock(mutex_);
      if (stopping_) {
        if (fd >= 0) ::close(fd);
        return;
      }
    }
    reap();
    if (fd < 0) {
      // Out of descriptors or memory for a moment: no reason to stop listening, nor to spin.
      if (errno != EINTR && errno != ECONNABORTED) ::poll(nullptr, 0, kAcceptRetryMs);
      continue;
    }
    admit(fd);
  }
}

void ControlServer::admit(int fd) {
  if (!same_user(fd)) {
    strangers_.warning(SystemClock().now(), "control socket: a connection of another user was refused");
    ::close(fd);
    return;
  }
  const MutexLock lock(mutex_);
  if (connections_.size() >= kControlConnectionsMax) {
    wire::ControlReply busy;
    busy.error = Error{ErrorCode::resource_exhausted,
                       fmt::format("{} programs are connected to this daemon already: close one, and try again",
                                   kControlConnectionsMax)};
    send_all(fd, wire::encode_line(busy));
    ::close(fd);
    return;
  }
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &kSendPatience, sizeof kSendPatience);
  Connection& connection = connections_.emplace_back();
  connection.fd = fd;
  connection.thread = std::thread([this, fd, &connection] {
    serve(fd);
    const MutexLock done(mutex_);
    connection.finished = true;
  });
}

void ControlServer::serve(int fd) {
  std::string buffer;
  while (true) {
    const std::string line = read_line(fd, buffer);
    if (line.empty()) return;
    wire::ControlReply reply;
    if (const auto request = wire::decode_control_request(line); request.ok()) {
      reply = handler_(*request);
    } else {
      reply.error = request.error();
    }
    if (!send_all(fd, wire::encode_line(reply))) return;
  }
}

void ControlServer::reap() {
  std::list<Connection> finished;
  {
    const MutexLock lock(mutex_);
    for (auto it = connections_.begin(); it != connections_.end();) {
      const auto here = it++;
      if (here->finished) finished.splice(finished.end(), connections_, here);
    }
  }
  for (Connection& connection : finished) {
    connection.thread.join();
    ::close(connection.fd);
  }
}

}  // namespace starling::daemon
