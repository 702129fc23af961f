#include "client/cli/control_client.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "shared/base/shell_words.h"
#include "shared/crypto/tls.h"
#include "shared/net/tls_stream.h"
#include "shared/wire/web_address.h"

namespace starling::cli {
namespace {

constexpr Duration kConnectMax = std::chrono::seconds(15);
constexpr Duration kAnswerMax = std::chrono::minutes(5);  // the slowest commands ask a coordinator first

struct Address {
  net::Endpoint endpoint;
  Digest fingerprint;
};

Result<Address> parse_address(std::string_view text) {
  const Error wrong{ErrorCode::invalid_argument,
                    fmt::format("'{}' is no daemon's address: it looks like HOST:PORT#FINGERPRINT, as starling remote "
                                "show tells it on the daemon's computer",
                                text)};
  const std::size_t hash = text.find('#');
  if (hash == std::string_view::npos) return wrong;
  auto place = wire::parse_host_and_port(text.substr(0, hash));
  const auto fingerprint = Digest::from_hex(text.substr(hash + 1));
  if (!place.ok() || !fingerprint.ok()) return wrong;
  return Address{{std::move(place->host), place->port}, *fingerprint};
}

// Handle of the process that listens at the other end. It is taken before that process is asked to end, so its number
// cannot belong to another one yet.
UniqueFd process_behind(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.pid <= 0) return {};
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, peer.pid, 0)));
}

}  // namespace

struct ControlClient::Remote {
  net::CancelEvent never;
  std::unique_ptr<net::TlsStream> stream;
};

ControlClient::ControlClient(UniqueFd socket, UniqueFd process)
    : socket_(std::move(socket)), process_(std::move(process)) {}
ControlClient::ControlClient(std::unique_ptr<Remote> remote) : remote_(std::move(remote)) {}
ControlClient::ControlClient(ControlClient&& other) noexcept = default;
ControlClient::~ControlClient() = default;

Result<ControlClient> ControlClient::connect_remote(const std::string& daemon, const std::string& token) {
  STARLING_ASSIGN(const Address address, parse_address(daemon));
  STARLING_ASSIGN(const crypto::TlsContext tls, crypto::TlsContext::first_contact());
  auto remote = std::make_unique<Remote>();
  const TimePoint deadline = net::monotonic_now() + kConnectMax;
  STARLING_ASSIGN(remote->stream, net::TlsStream::connect(address.endpoint, tls, remote->never, deadline));
  // Nothing is sent before the listener's identity is certain.
  if (!crypto::ca_from_chain(remote->stream->native(), address.fingerprint).ok()) {
    return Error{ErrorCode::unauthenticated,
                 fmt::format("what answers at {} port {} is not the daemon with that fingerprint; see starling remote "
                             "show on its computer, and that both computers' dates are right",
                             address.endpoint.host, address.endpoint.port)};
  }
  ControlClient client(std::move(remote));
  STARLING_ASSIGN(const wire::ControlReply reply, client.call(wire::Authenticate{token}));
  if (reply.error.has_value()) return *reply.error;
  return client;
}

Result<ControlClient> ControlClient::connect(const std::filesystem::path& data_dir) {
  const std::string path = (data_dir / "control.sock").string();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return Error{ErrorCode::invalid_argument, fmt::format("'{}' is too long for a Unix socket", path)};
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return Error{ErrorCode::io, fmt::format("create a socket: {}", std::strerror(errno))};
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno == EACCES || errno == EPERM) {
      return Error{ErrorCode::permission_denied, fmt::format("the daemon at '{}' belongs to another user", path)};
    }
    return Error{ErrorCode::unavailable,
                 fmt::format("no daemon is running on '{}'; start one with: starlingd --data-dir {}", data_dir.string(),
                             shell_word(data_dir.string()))};
  }
  UniqueFd process = process_behind(socket.get());
  return ControlClient(std::move(socket), std::move(process));
}

void ControlClient::send(std::string_view line) {
  // The daemon may have hung up; its earlier output can still be read.
  if (remote_ != nullptr) return (void)remote_->stream->write_all(line, net::monotonic_now() + kConnectMax);
  while (!line.empty()) {
    const ssize_t sent = ::send(socket_.get(), line.data(), line.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return;
    line.remove_prefix(static_cast<std::size_t>(sent));
  }
}

Result<std::size_t> ControlClient::receive(std::span<char> out) {
  if (remote_ != nullptr) return remote_->stream->read_some(out, net::monotonic_now() + kAnswerMax);
  ssize_t got = 0;
  do {
    got = ::recv(socket_.get(), out.data(), out.size(), 0);
  } while (got < 0 && errno == EINTR);
  return static_cast<std::size_t>(std::max<ssize_t>(0, got));
}

Result<wire::ControlReply> ControlClient::call(const wire::ControlRequest& request) {
  send(wire::encode_line(request));
  std::size_t end = std::string::npos;
  while ((end = buffer_.find('\n')) == std::string::npos) {
    char chunk[16384];
    STARLING_ASSIGN(const std::size_t got, receive(chunk));
    if (got == 0) return Error{ErrorCode::unavailable, "the daemon ended before it answered"};
    buffer_.append(chunk, got);
    if (buffer_.size() > 2 * wire::kControlLineBytesMax) return Error{ErrorCode::corrupt, "the reply is too long"};
  }
  const std::string reply_line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return wire::decode_control_reply(reply_line);
}

void ControlClient::wait_for_end() {
  if (process_) {
    pollfd ended{process_.get(), POLLIN, 0};
    while (::poll(&ended, 1, -1) < 0 && errno == EINTR) {
    }
    return;
  }
  char chunk[256];
  for (auto got = receive(chunk); got.ok() && *got > 0;) got = receive(chunk);
}

}  // namespace starling::cli
