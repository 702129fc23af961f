#include "client/cli/control_client.h"

#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace starling::cli {

Result<ControlClient> ControlClient::connect(const std::filesystem::path& data_dir) {
  const std::string path = (data_dir / "control.sock").string();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return Error{ErrorCode::invalid_argument, fmt::format("'{}' is too long for a Unix socket", path)};
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  ControlClient client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (client.fd_ < 0) return Error{ErrorCode::io, fmt::format("create a socket: {}", std::strerror(errno))};
  if (::connect(client.fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno == EACCES || errno == EPERM) {
      return Error{ErrorCode::permission_denied, fmt::format("the daemon at '{}' belongs to another user", path)};
    }
    return Error{ErrorCode::unavailable,
                 fmt::format("no daemon is running on '{}'; start one with: starlingd --data-dir {}", data_dir.string(),
                             data_dir.string())};
  }
  return client;
}

ControlClient::ControlClient(ControlClient&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), buffer_(std::move(other.buffer_)) {}

ControlClient::~ControlClient() {
  if (fd_ >= 0) ::close(fd_);
}

Result<wire::ControlReply> ControlClient::call(const wire::ControlRequest& request) {
  const std::string line = wire::encode_line(request);
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t sent = ::send(fd_, line.data() + done, line.size() - done, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) break;  // it hung up; what it said before can still be read
    done += static_cast<std::size_t>(sent);
  }
  std::size_t end = std::string::npos;
  while ((end = buffer_.find('\n')) == std::string::npos) {
    char chunk[16384];
    const ssize_t got = ::recv(fd_, chunk, sizeof chunk, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Error{ErrorCode::unavailable, "the daemon ended before it answered"};
    buffer_.append(chunk, static_cast<std::size_t>(got));
    if (buffer_.size() > 2 * wire::kControlLineBytesMax) return Error{ErrorCode::corrupt, "the reply is too long"};
  }
  const std::string reply_line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return wire::decode_control_reply(reply_line);
}

}  // namespace starling::cli
