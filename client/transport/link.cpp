#include "client/transport/link.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <asio/post.hpp>

namespace starling::transport {
namespace {

// Bytes moved for one link before the others get their turn.
constexpr std::size_t kReadBudget = 512 * 1024;
constexpr std::size_t kWriteBudget = 512 * 1024;

// Unsent bytes in the kernel beyond which a socket counts as full: what flows in kNotSentTime. Enough to keep it busy
// until we come round again; little enough that what is urgent is not queued behind what is not, that links keep in
// step, and that data stays in the cache.
constexpr int kNotSentMax = 256 * 1024;
constexpr int kNotSentMin = 32 * 1024;
constexpr Duration kNotSentTime = std::chrono::milliseconds(40);
// Input is left to gather for about so long, in one frame, rather than to wake us for every packet; less where a link
// is slow, so that it shows signs of life.
constexpr Duration kGatherTime = std::chrono::milliseconds(10);
constexpr int kGatherMin = 4 * 1024;
constexpr int kGatherMax = 64 * 1024;
// Bytes/s beyond which a link brings that much at once anyway.
constexpr double kGatherRateMax = 50e6;
// The shortest time over which a link's rate is worth a thought.
constexpr Duration kRateTimeMin = std::chrono::milliseconds(20);
// A connection on which nothing was acknowledged for so long is dead; so is one that does not answer probes.
constexpr int kUserTimeoutMs = 30'000;
constexpr int kKeepAliveIdleS = 30;
constexpr int kKeepAliveIntervalS = 10;
constexpr int kKeepAliveProbes = 3;

// Under a limit, the most that the other end may send before we have read it: what flows in that time.
constexpr Duration kWindowTime = std::chrono::milliseconds(200);
constexpr double kWindowMin = 64 * 1024;
constexpr double kWindowMax = 64 * 1024 * 1024;

constexpr std::uint64_t kNoPace = UINT64_MAX;
constexpr double kPaceMin = 1024;

constexpr std::uint32_t kHelloBytesMax = 1024;

// What goes the other way for bytes that pass: a header for every second packet.
std::size_t acknowledgements(std::size_t bytes) { return bytes / 56; }

void set_option(int fd, int level, int name, int value) { ::setsockopt(fd, level, name, &value, sizeof value); }

// Send and receive buffers are left to the kernel: setting them would switch off its tuning, and the limit for
// unprivileged programs is far below what a long fast path needs.
void configure(int fd, const std::string& congestion_control) {
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);  // a child that held it would keep the link alive after us
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, kNotSentMax);
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, kUserTimeoutMs);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, kKeepAliveIdleS);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, kKeepAliveIntervalS);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, kKeepAliveProbes);
  // Where the system does not have it or does not allow it, its own choice stays.
  if (congestion_control.empty()) return;
  ::setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, congestion_control.data(),
               static_cast<socklen_t>(congestion_control.size()));
}

std::string text_of(const asio::ip::tcp::endpoint& endpoint) {
  return fmt::format("{} port {}", endpoint.address().to_string(), endpoint.port());
}

}  // namespace

Link::Link(LinkContext& context, Mediator& mediator, crypto::TlsContext tls)
    : context_(context),
      mediator_(mediator),
      tls_(std::move(tls)),
      socket_(context.io),
      writer_([this](FrameToSend& f) { return mediator_.next_frame(*this, f); }),
      pace_(kNoPace),
      gather_max_(kGatherMin),
      unsent_max_(kNotSentMax) {
  info_.opened = info_.last_used = context.clock.now();
}

Link::~Link() = default;

void Link::accept(asio::ip::tcp::socket socket) {
  socket_ = std::move(socket);
  asio::error_code error;
  info_.remote = text_of(socket_.remote_endpoint(error));
  begin_tls(TlsStream::Role::server);
}

void Link::dial(const asio::ip::tcp::endpoint& endpoint, const PeerId& expected) {
  info_.peer = expected;
  info_.dialled = true;
  info_.remote = text_of(endpoint);
  connect(endpoint, [this] { begin_tls(TlsStream::Role::client); });
}

void Link::meet(const reach::RelayPoint& relay, const PeerId& expected, bool calling) {
  info_.peer = expected;
  info_.dialled = calling;
  info_.relayed = true;
  info_.remote = fmt::format("peer {} over relay {}", expected.brief(), text_of(relay.at));
  connect(relay.at, [this, relay = relay.peer] {
    const reach::RelayTalk::Wish wish{relay, reach::RelayRequest{reach::RelayRequestKind::call, info_.peer}};
    relay_talk_ = std::make_shared<reach::RelayTalk>(socket_, tls_, context_.clock.wall_now(), wish);
    relay_talk_->start([self = shared_from_this()](const Status& status) {
      if (!status.ok()) return self->close(status.error().prefixed(self->info_.remote));
      self->relay_talk_ = nullptr;
      self->begin_tls(self->context_.self < self->info_.peer ? TlsStream::Role::client : TlsStream::Role::server);
    });
  });
}

void Link::connect(const asio::ip::tcp::endpoint& endpoint, std::function<void()> then) {
  socket_.async_connect(endpoint, [self = shared_from_this(), then = std::move(then)](const asio::error_code& error) {
    if (self->info_.phase == Phase::closed) return;
    if (!error) return then();
    self->close({ErrorCode::unavailable, fmt::format("dial {}: {}", self->info_.remote, error.message())});
  });
}

void Link::begin_tls(TlsStream::Role role) {
  asio::error_code error;
  socket_.native_non_blocking(true, error);
  if (error) return close({ErrorCode::io, "open link: " + error.message()});
  configure(socket_.native_handle(), context_.congestion_control);
  limit_window();
  stream_ = std::make_unique<TlsStream>(tls_, socket_.native_handle(), role, context_.clock.wall_now());
  info_.phase = Phase::handshaking;
  on_handshake();
}

void Link::wait(asio::ip::tcp::socket::wait_type type) {
  const bool input = type == asio::ip::tcp::socket::wait_read;
  if (input && awaits_input_) return;
  if (input) awaits_input_ = true;
  socket_.async_wait(type, [self = shared_from_this(), input](const asio::error_code& error) {
    if (self->info_.phase == Phase::closed) return;
    if (input) self->awaits_input_ = false;
    if (error) return self->close({ErrorCode::io, "wait for link: " + error.message()});
    self->on_ready(input);
  });
}

void Link::on_ready(bool input) {
  if (!input) blocked_ = false;
  if (info_.phase == Phase::handshaking) return on_handshake();
  if (!input) pump();
  // Reading may have had to wait for room in the output.
  if (!awaits_input_ && info_.phase != Phase::closed) read_frames();
}

void Link::on_handshake() {
  const IoState state = stream_->handshake();
  if (state != IoState::done) return stop(state);
  if (const Status status = identify(); !status.ok()) return close(status.error());
  info_.phase = Phase::greeting;
  const auto hello = wire::encode(wire::Hello{.protocol = wire::kPeerProtocolVersion, .run_id = context_.run_id});
  send_control(wire::FrameType::hello, hello);
  read_frames();
}

// The certificate proves a member; the plan said which one.
Status Link::identify() {
  STARLING_ASSIGN(const PeerId peer, stream_->peer());
  if ((info_.dialled || info_.relayed) && peer != info_.peer) {
    return Error{ErrorCode::unauthenticated, fmt::format("link to {}: peer {} answers there, not the planned {}",
                                                         info_.remote, peer.brief(), info_.peer.brief())};
  }
  if (peer == context_.self) {
    return Error{ErrorCode::unauthenticated, fmt::format("link to {}: it shows our own certificate", info_.remote)};
  }
  info_.peer = peer;
  return {};
}

void Link::read_frames() {
  if (input_waits_) return;
  const std::shared_ptr<Link> self = shared_from_this();
  const std::size_t allowed = context_.download.ask(kReadBudget, [waiting = weak_from_this()] {
    const std::shared_ptr<Link> link = waiting.lock();
    if (link == nullptr) return;
    link->input_waits_ = false;
    if (!link->awaits_input_ && link->info_.phase != Phase::closed) link->read_frames();
  });
  input_waits_ = allowed == 0;
  if (input_waits_) return;
  std::size_t budget = allowed;
  const IoState state = read_some(budget);
  context_.download.passed(allowed - budget);
  context_.upload.passed(acknowledgements(allowed - budget));
  if (budget < allowed) mediator_.input_paused(*this);
  if (info_.phase == Phase::closed) return;
  if (state != IoState::done) return stop(state);
  if (awaits_input_) return;
  awaits_input_ = true;
  asio::post(context_.io, [self] {
    self->awaits_input_ = false;
    if (self->info_.phase != Phase::closed) self->read_frames();
  });
}

IoState Link::read_some(std::size_t& budget) {
  const std::size_t allowed = budget;
  while (budget > 0 && info_.phase != Phase::closed) {
    if (budget < allowed && stream_->drained()) return IoState::want_read;
    const std::span<std::uint8_t> target = reader_.target();
    const IoStep step = stream_->read(target.first(std::min(target.size(), budget)));
    if (step.state != IoState::done) return step.state;
    budget -= step.bytes;
    if (const Status status = take_input(step.bytes); !status.ok()) close(status.error().prefixed(info_.remote));
  }
  return IoState::done;
}

Status Link::take_input(std::size_t bytes) {
  STARLING_ASSIGN(FrameReader::Event event, reader_.advance(bytes));
  if (event == FrameReader::Event::header) {
    STARLING_ASSIGN(const bool wanted, judge_header());
    event = reader_.begin_payload(wanted);
  }
  if (event != FrameReader::Event::frame) return {};
  info_.last_used = context_.clock.now();
  return reader_.wanted() ? handle_frame() : Status();
}

Result<bool> Link::judge_header() {
  const wire::FrameHeader& header = reader_.header();
  const bool hello = header.type == wire::FrameType::hello;
  if (info_.phase == Phase::up && !hello) return mediator_.wants_frame(*this, header);
  if (info_.phase == Phase::greeting && hello && header.payload_bytes <= kHelloBytesMax) return true;
  return Error{ErrorCode::corrupt, hello ? "a hello out of place" : "something was sent before hello"};
}

Status Link::handle_frame() {
  if (info_.phase == Phase::up) return mediator_.frame_received(*this, reader_.header(), reader_.payload());
  STARLING_ASSIGN(const wire::Hello hello, wire::decode_hello(reader_.payload()));
  if (hello.protocol != wire::kPeerProtocolVersion) {
    return Error{ErrorCode::unsupported, fmt::format("peer speaks version {} of the protocol, this program {}",
                                                     hello.protocol, wire::kPeerProtocolVersion)};
  }
  if (hello.run_id != context_.run_id) {
    return Error{ErrorCode::failed_precondition, fmt::format("peer takes part in another run, '{}'", hello.run_id)};
  }
  info_.phase = Phase::up;
  info_.was_up = true;
  mediator_.link_up(*this);
  return {};
}

void Link::send_control(wire::FrameType type, std::span<const std::uint8_t> payload, const GroupId& group) {
  if (info_.phase != Phase::greeting && info_.phase != Phase::up) return;
  const auto payload_bytes = static_cast<std::uint32_t>(payload.size());
  writer_.enqueue({.type = type, .payload_bytes = payload_bytes, .group = group, .segment = 0}, payload);
  if (writer_.queued_bytes() > kControlQueueBytesMax) {
    return close({ErrorCode::resource_exhausted, fmt::format("{}: peer does not read", info_.remote)});
  }
  pump();
}

void Link::pump() {
  if (blocked_ || output_over_ || pumping_ || pump_posted_ || output_waits_ ||
      (info_.phase != Phase::greeting && info_.phase != Phase::up))
    return;
  const std::size_t allowed = context_.upload.ask(kWriteBudget, [waiting = weak_from_this()] {
    const std::shared_ptr<Link> link = waiting.lock();
    if (link == nullptr) return;
    link->output_waits_ = false;
    link->pump();
  });
  output_waits_ = allowed == 0;
  if (output_waits_) return;
  pumping_ = true;
  auto budget = static_cast<std::ptrdiff_t>(allowed);
  IoState state = writer_.write(*stream_, info_.phase == Phase::up, budget);
  if (const IoState flushed = stream_->flush(); state == IoState::done) state = flushed;
  pumping_ = false;
  const auto sent = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(allowed) - budget);
  context_.upload.passed(sent);
  context_.download.passed(acknowledgements(sent));
  // Why the other end takes no more is told by what it sent last, for instance a refusal of our certificate.
  if (state == IoState::closed) output_over_ = true;
  if (output_over_) return;
  if (state != IoState::done) return stop(state);
  if (budget > 0) return;
  pump_posted_ = true;
  asio::post(context_.io, [self = shared_from_this()] {
    self->pump_posted_ = false;
    self->pump();
  });
}

// What a stream that does not go on waits for.
void Link::stop(IoState state) {
  switch (state) {
    case IoState::want_read:
      gather_input();
      return wait(asio::ip::tcp::socket::wait_read);
    case IoState::want_write:
      blocked_ = true;
      return wait(asio::ip::tcp::socket::wait_write);
    case IoState::closed:
      return close({ErrorCode::unavailable, fmt::format("{}: connection closed", info_.remote)});
    case IoState::failed:
      return close(stream_->error(info_.remote));
    case IoState::done:
      break;
  }
  VERIFY(false);
}

// The kernel counts on while this process does something else, so that its numbers tell more of the line than ours.
void Link::count_traffic() {
  if (!socket_.is_open()) return;
  const TcpCounters moved = tcp_counters(socket_.native_handle());
  const std::int64_t sent = moved.bytes_acknowledged - counted_.bytes_acknowledged;
  context_.moved.bytes_acknowledged += sent;
  context_.moved.bytes_sent += moved.bytes_sent - counted_.bytes_sent;
  const std::int64_t received = moved.bytes_received - counted_.bytes_received;
  context_.moved.bytes_received += received;
  counted_ = moved;
  const TimePoint now = context_.clock.now();
  const Duration time = now - counted_at_;
  counted_at_ = now;
  if (time >= kRateTimeMin) {
    const double rate = static_cast<double>(received) / to_seconds(time);
    const double gathers = std::clamp<double>(rate * to_seconds(kGatherTime), kGatherMin, kGatherMax);
    gather_max_ = rate > kGatherRateMax ? 1 : static_cast<int>(gathers);
    if (wakes_at_ > gather_max_) gather_input();
  }
  // Only a link that is kept waiting shows how fast it is.
  if (blocked_ && time >= kRateTimeMin) limit_unsent(static_cast<double>(sent) / to_seconds(time));
}

void Link::limit_window() {
  const double limit = context_.download.bytes_per_s();
  if (!socket_.is_open() || (limit <= 0 && !window_limited_)) return;
  window_limited_ = true;
  const double window = std::clamp(limit * to_seconds(kWindowTime), kWindowMin, kWindowMax);
  set_option(socket_.native_handle(), IPPROTO_TCP, TCP_WINDOW_CLAMP, static_cast<int>(limit > 0 ? window : kWindowMax));
}

void Link::set_pace(double bytes_per_s) {
  const std::uint64_t pace = bytes_per_s > 0 ? static_cast<std::uint64_t>(std::max(kPaceMin, bytes_per_s)) : kNoPace;
  const bool about_the_same = pace_ != kNoPace && pace > pace_ - pace_ / 32 && pace < pace_ + pace_ / 32;
  if (pace == pace_ || about_the_same || !socket_.is_open()) return;
  pace_ = pace;
  ::setsockopt(socket_.native_handle(), SOL_SOCKET, SO_MAX_PACING_RATE, &pace, sizeof pace);
}

// The last bytes of a frame wake us in any case.
void Link::gather_input() {
  std::size_t worth = 1;
  if (info_.phase == Phase::up) {
    worth = std::min(static_cast<std::size_t>(gather_max_), stream_->input_before(reader_.bytes_missing()));
  }
  const int wakes_at = static_cast<int>(worth);
  if (wakes_at == wakes_at_) return;
  wakes_at_ = wakes_at;
  set_option(socket_.native_handle(), SOL_SOCKET, SO_RCVLOWAT, wakes_at);
}

void Link::limit_unsent(double bytes_per_s) {
  const double fits = bytes_per_s * to_seconds(kNotSentTime);
  const int limit = static_cast<int>(std::clamp<double>(fits, kNotSentMin, kNotSentMax));
  if (limit > unsent_max_ * 3 / 4 && limit < unsent_max_ * 4 / 3) return;
  unsent_max_ = limit;
  set_option(socket_.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, limit);
}

void Link::close(Error why) {
  if (info_.phase == Phase::closed) return;
  info_.phase = Phase::closed;
  if (stream_ != nullptr) (void)stream_->flush();
  blocked_ = false;
  if (relay_talk_ != nullptr) std::exchange(relay_talk_, nullptr)->cancel();
  count_traffic();
  asio::error_code ignored;
  socket_.close(ignored);
  asio::post(context_.io,
             [self = shared_from_this(), why = std::move(why)] { self->mediator_.link_closed(*self, why); });
}

}  // namespace starling::transport
