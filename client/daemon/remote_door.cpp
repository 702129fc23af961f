#include "client/daemon/remote_door.h"

#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>

#include "shared/base/log.h"
#include "shared/crypto/certificates.h"
#include "shared/crypto/secrets.h"

namespace starling::daemon {
namespace {

constexpr std::size_t kGreetingBytesMax = 1024;
constexpr int kAcceptRetryMs = 100;
constexpr std::chrono::hours kLifetime{24 * 365 * 20};  // for a certificate that is pinned, and replaced with the token

Result<UniqueFd> listen_on(const std::string& address, int& port) {
  const std::string what = fmt::format("listen on '{}' port {}", address, port);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  addrinfo* found = nullptr;
  if (::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) {
    return Error{ErrorCode::invalid_argument, what + ": that is no IP address; name one of this computer's"};
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(found, &::freeaddrinfo);
  UniqueFd socket(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  if (socket) ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (!socket || ::bind(socket.get(), found->ai_addr, found->ai_addrlen) != 0 || ::listen(socket.get(), 16) != 0) {
    return Error{ErrorCode::unavailable, fmt::format("{}: {}", what, std::strerror(errno))};
  }
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  VERIFY(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound), &size) == 0);
  port = ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                           : reinterpret_cast<const sockaddr_in&>(bound).sin_port);
  return socket;
}

// Makes a certificate that only this daemon has, of an authority that signs nothing else: its key goes out of scope
// here.
Status make_certificate(storage::RemoteAccess& access, WallTime now) {
  STARLING_ASSIGN(const auto authority, crypto::CertificateAuthority::create("Starling daemon", now));
  const crypto::PrivateKey key = crypto::PrivateKey::generate();
  access.authority_pem = authority.certificate_pem();
  STARLING_ASSIGN(access.certificate_pem, authority.issue_server(key.public_key(), {now, {}, kLifetime}));
  access.key_pem = key.to_pem();
  return {};
}

wire::ControlReply refusal_of(Error error) {
  wire::ControlReply reply;
  reply.error = std::move(error);
  return reply;
}

}  // namespace

RemoteDoor::RemoteDoor(std::filesystem::path data_dir, const Clock& clock, Handler handler, RemoteTimes times)
    : data_dir_(std::move(data_dir)), clock_(clock), handler_(std::move(handler)), times_(times) {
  std::signal(SIGPIPE, SIG_IGN);
}

RemoteDoor::~RemoteDoor() { close(); }

void RemoteDoor::close() {
  std::unique_ptr<Door> door;
  std::list<Caller> callers;
  {
    const MutexLock lock(mutex_);
    door = shut();
  }
  end(std::move(door));  // no new callers from here on
  {
    const MutexLock lock(mutex_);
    callers.splice(callers.end(), callers_);
  }
  for (Caller& caller : callers) caller.thread.join();
}

Result<std::unique_ptr<RemoteDoor::Door>> RemoteDoor::make_door(storage::RemoteAccess access) {
  STARLING_ASSIGN(crypto::PrivateKey key, crypto::PrivateKey::from_pem(access.key_pem));
  STARLING_ASSIGN(crypto::TlsContext tls, crypto::TlsContext::coordinator_server(
                                              access.authority_pem, {access.certificate_pem, std::move(key)}));
  STARLING_ASSIGN(const crypto::CertificateInfo authority, crypto::read_certificate(access.authority_pem));
  STARLING_ASSIGN(UniqueFd listener, listen_on(access.address, access.port));
  return std::unique_ptr<Door>(
      new Door{std::move(access), std::move(tls), authority.fingerprint.hex(), std::move(listener)});
}

void RemoteDoor::reopen() {
  auto access = storage::load_remote_access(data_dir_);
  if (access.ok() && !access->has_value()) return;
  auto door = access.ok() ? make_door(std::move(**access)) : Result<std::unique_ptr<Door>>(access.error());
  const MutexLock lock(mutex_);
  if (door.ok()) return open(std::move(*door));
  problem_ = door.error().message;
  log_warning("other computers cannot control this daemon: {}", problem_);
}

Result<wire::RemoteView> RemoteDoor::enable(const std::string& address, int port) {
  storage::RemoteAccess access;
  access.address = address;
  access.port = port;
  const std::string token = crypto::make_token();
  access.token_hash = crypto::hash_token(token);
  STARLING_TRY(make_certificate(access, clock_.wall_now()));
  std::unique_ptr<Door> before;
  {
    const MutexLock lock(mutex_);
    // The port is free again once the door before is shut; should this one fail, that one opens again.
    before = shut();
  }
  const auto old = before == nullptr ? std::optional<storage::RemoteAccess>() : before->access;
  end(std::move(before));
  auto door = make_door(std::move(access));
  Status saved = door.status();
  if (saved.ok()) saved = storage::save_remote_access(data_dir_, (*door)->access);
  if (!saved.ok()) {
    if (door.ok()) door->reset();
    if (old.has_value()) reopen();
    return saved.error();
  }
  {
    const MutexLock lock(mutex_);
    open(std::move(*door));
  }
  wire::RemoteView made = view();
  made.token = token;
  return made;
}

Status RemoteDoor::disable() {
  std::unique_ptr<Door> door;
  {
    const MutexLock lock(mutex_);
    door = shut();
    problem_.clear();
  }
  end(std::move(door));
  const Status removed = storage::remove_remote_access(data_dir_);
  if (removed.ok()) return {};
  return removed.error().prefixed("other computers are shut out now, but not for ever");
}

wire::RemoteView RemoteDoor::view() const {
  wire::RemoteView view;
  const MutexLock lock(mutex_);
  view.enabled = door_ != nullptr || !problem_.empty();
  view.problem = problem_;
  if (door_ == nullptr) return view;
  view.address = door_->access.address;
  view.port = door_->access.port;
  view.fingerprint = door_->fingerprint;
  view.callers = static_cast<int>(std::count_if(callers_.begin(), callers_.end(), [](const Caller& caller) {
    return caller.welcome && !caller.finished && !caller.cancel.is_set();
  }));
  return view;
}

void RemoteDoor::open(std::unique_ptr<Door> door) {
  door_ = std::move(door);
  problem_.clear();
  log_info("other computers may control this daemon on {} port {}", door_->access.address, door_->access.port);
  door_->thread = std::thread([this, door = door_.get()] { accept_callers(*door); });
}

std::unique_ptr<RemoteDoor::Door> RemoteDoor::shut() {
  for (Caller& caller : callers_) caller.cancel.set();
  if (door_ != nullptr) door_->closing.set();
  return std::move(door_);
}

void RemoteDoor::end(std::unique_ptr<Door> door) {
  if (door == nullptr) return;
  door->thread.join();
}

void RemoteDoor::accept_callers(const Door& door) {
  pollfd fds[] = {{door.listener.get(), POLLIN, 0}, {door.closing.fd(), POLLIN, 0}};
  while (true) {
    const int ready = ::poll(fds, 2, -1);
    if (fds[1].revents != 0 && ready > 0) return;
    UniqueFd socket(::accept4(door.listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    const int error = errno;
    reap();
    if (socket) {
      admit(door, std::move(socket));
    } else if (error != EINTR && error != EAGAIN && error != ECONNABORTED) {
      ::poll(fds + 1, 1, kAcceptRetryMs);  // out of descriptors for a moment: no reason to stop listening, nor to spin
    }
  }
}

void RemoteDoor::admit(const Door& door, UniqueFd socket) {
  const MutexLock lock(mutex_);
  if (door.closing.is_set()) return;
  std::size_t strangers = 0;
  Caller* oldest = nullptr;
  for (Caller& caller : callers_) {
    if (caller.welcome || caller.finished || caller.cancel.is_set()) continue;
    if (strangers++ == 0) oldest = &caller;
  }
  if (strangers >= kRemoteStrangersMax) oldest->cancel.set();
  if (callers_.size() >= kRemoteCallersMax + 2 * kRemoteStrangersMax) return;
  Caller& caller = callers_.emplace_back();
  try {
    caller.thread =
        std::thread([this, tls = door.tls, hash = door.access.token_hash, fd = std::move(socket), &caller]() mutable {
          serve(tls, hash, std::move(fd), caller);
          const MutexLock done(mutex_);
          caller.finished = true;
        });
  } catch (const std::system_error& error) {  // no thread to be had just now
    not_taken_.warning(clock_.now(), fmt::format("a call from another computer could not be taken: {}", error.what()));
    callers_.pop_back();
  }
}

Result<std::string> RemoteDoor::read_line(net::TlsStream& stream, std::string& buffer, std::size_t bytes_max,
                                          TimePoint deadline) {
  while (true) {
    if (const std::size_t end = buffer.find('\n'); end != std::string::npos) {
      std::string line = buffer.substr(0, end);
      buffer.erase(0, end + 1);
      return line;
    }
    if (buffer.size() > bytes_max) return Error{ErrorCode::resource_exhausted, "the line is too long"};
    char chunk[4096];
    const bool begins = buffer.empty();
    STARLING_ASSIGN(const std::size_t got, stream.read_some(chunk, deadline));
    if (got == 0) return Error{ErrorCode::unavailable, "the other end hung up"};
    if (begins) deadline = std::min(deadline, net::monotonic_now() + times_.line_max);
    buffer.append(chunk, got);
  }
}

bool RemoteDoor::greet(net::TlsStream& stream, const wire::ControlRequest& greeting, const Digest& token_hash,
                       Caller& caller) {
  const auto* const shown = std::get_if<wire::Authenticate>(&greeting);
  const bool right = shown != nullptr && crypto::token_matches(shown->token, token_hash);
  Status status;
  if (!right) {
    note_wrong_token();
    pollfd cancelled{caller.cancel.fd(), POLLIN, 0};
    if (::poll(&cancelled, 1, static_cast<int>(to_ms(times_.wrong_token_delay))) != 0) return false;
    status = Error{ErrorCode::unauthenticated,
                   "the daemon does not know this token: make a new one where it runs, with starling remote enable"};
  } else {
    status = welcome(caller);
  }
  const wire::ControlReply reply = status.ok() ? wire::ControlReply() : refusal_of(status.error());
  return stream.write_all(wire::encode_line(reply), net::monotonic_now() + times_.line_max).ok() && status.ok();
}

Status RemoteDoor::welcome(Caller& caller) {
  const MutexLock lock(mutex_);
  const auto guests = std::count_if(callers_.begin(), callers_.end(),
                                    [](const Caller& other) { return other.welcome && !other.finished; });
  if (static_cast<std::size_t>(guests) >= kRemoteCallersMax) {
    return Error{ErrorCode::resource_exhausted,
                 fmt::format("{} programs are connected to this daemon already: close one, and try again", guests)};
  }
  caller.welcome = true;
  return {};
}

void RemoteDoor::note_wrong_token() {
  wrong_tokens_.warning(clock_.now(), "another computer called with a wrong token");
}

void RemoteDoor::serve(const crypto::TlsContext& tls, const Digest& token_hash, UniqueFd socket, Caller& caller) {
  const TimePoint patience = net::monotonic_now() + times_.greeting_max;
  auto stream = net::TlsStream::accept(std::move(socket), tls, caller.cancel, patience);
  if (!stream.ok()) return;
  std::string buffer;
  const auto first = read_line(**stream, buffer, kGreetingBytesMax, patience);
  const auto greeting = first.ok() ? wire::decode_control_request(*first) : Result<wire::ControlRequest>(first.error());
  if (!greeting.ok() || !greet(**stream, *greeting, token_hash, caller)) return;
  while (true) {
    const auto line = read_line(**stream, buffer, wire::kControlLineBytesMax, net::monotonic_now() + times_.idle_max);
    if (!line.ok() || caller.cancel.is_set()) return;
    const auto request = wire::decode_control_request(*line);
    wire::ControlReply reply;
    if (!request.ok()) {
      reply = refusal_of(request.error());
    } else if (std::holds_alternative<wire::ArrangeRemote>(*request)) {
      reply = refusal_of({ErrorCode::permission_denied,
                          "who may call from elsewhere is decided on the daemon's own "
                          "computer: run starling remote there"});
    } else {
      reply = handler_(*request);
    }
    if (caller.cancel.is_set()) return;  // the door was shut meanwhile, and strangers do not get this
    const TimePoint deadline = net::monotonic_now() + times_.line_max;
    if (!(*stream)->write_all(wire::encode_line(reply), deadline).ok()) return;
  }
}

void RemoteDoor::reap() {
  std::list<Caller> finished;
  {
    const MutexLock lock(mutex_);
    for (auto it = callers_.begin(); it != callers_.end();) {
      const auto here = it++;
      if (here->finished) finished.splice(finished.end(), callers_, here);
    }
  }
  for (Caller& caller : finished) caller.thread.join();
}

}  // namespace starling::daemon
