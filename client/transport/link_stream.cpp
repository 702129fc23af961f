#include "client/transport/link_stream.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <asio/post.hpp>
#include <cerrno>
#include <utility>

#include "shared/reach/keep_alive.h"

namespace starling::transport {
namespace {

// Bytes moved for one link before the others get their turn.
constexpr std::size_t kReadBudget = 512 * 1024;
constexpr std::size_t kWriteBudget = 512 * 1024;
// Bytes read at a stretch when nobody wants them any more.
constexpr std::size_t kDiscardBytes = 16 * 1024;

// Unsent bytes in the kernel beyond which a socket counts as full: as much as flows in kNotSentTime. It is enough to
// keep the socket busy until we come round again, and little enough that urgent frames do not queue behind others, that
// links keep in step, and that data stays in the cache. With ticks we come round rarely.
constexpr int kNotSentMax = 256 * 1024;
constexpr int kNotSentMin = 32 * 1024;
constexpr Duration kNotSentTime = std::chrono::milliseconds(40);
constexpr Duration kNotSentTimeInBeats = std::chrono::milliseconds(80);
// Input may gather for about this long, within one frame, so that not every packet wakes us; less on a slow link, so
// that it shows signs of life.
constexpr Duration kGatherTime = std::chrono::milliseconds(10);
constexpr int kGatherMin = 4 * 1024;
constexpr int kGatherMax = 64 * 1024;
// More input than this wakes us before the next tick. The kernel enlarges a socket's buffer to hold it; where the
// download is limited, this much must not lie there unread.
constexpr int kBeatInputMax = 256 * 1024;
// A link faster than this (bytes/s) brings that much at once anyway.
constexpr double kGatherRateMax = 50e6;
// The shortest time over which a link's rate means anything.
constexpr Duration kRateTimeMin = std::chrono::milliseconds(20);
// Counters no older than this need not be read again.
constexpr Duration kCountsHold = std::chrono::milliseconds(10);

void set_option(int fd, int level, int name, int value) { ::setsockopt(fd, level, name, &value, sizeof value); }

// Send and receive buffers are left to the kernel. Setting them would switch off its tuning, and the limit for
// unprivileged programs is far below the needs of a long fast path.
void configure(int fd) {
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);  // a child process that held the socket would keep the link alive after us
  reach::keep_alive(fd);
  set_option(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, kNotSentMax);
}

}  // namespace

LinkStream::LinkStream(LinkContext& context, Owner& owner, asio::ip::tcp::socket socket)
    : context_(context),
      owner_(&owner),
      socket_(std::move(socket)),
      writer_([this](FrameToSend& frame) { return pull(frame); }),
      gather_max_(kGatherMin),
      unsent_max_(kNotSentMax) {}

LinkStream::~LinkStream() = default;

void LinkStream::begin(const crypto::TlsContext& tls, TlsStream::Role role) {
  asio::error_code error;
  socket_.native_non_blocking(true, error);
  if (error) return end({ErrorCode::io, "open link: " + error.message()});
  configure(socket_.native_handle());
  header_bytes_ = net::header_bytes(socket_.native_handle());
  const bool far = tcp_counters(socket_.native_handle()).round_trip_least >= context_.far_from;
  if (far) set_congestion_control(socket_.native_handle(), context_.congestion_control);
  loss_based_ = is_loss_based(socket_.native_handle());
  limit_window();
  const TlsStream::Socket on{socket_.native_handle(), context_.buffers};
  tls_ = std::make_unique<TlsStream>(tls, on, role, context_.clock.wall_now());
  on_handshake();
}

void LinkStream::wait(asio::ip::tcp::socket::wait_type type) {
  const bool input = type == asio::ip::tcp::socket::wait_read;
  if (input && awaits_input_) return;
  if (input) awaits_input_ = true;
  if (!input) room_wakes_ = true;
  socket_.async_wait(type, [self = shared_from_this(), input, type](const asio::error_code& error) {
    if (self->phase_ == Phase::closed) return;
    if (input) self->awaits_input_ = false;
    if (error == asio::error::operation_aborted) {  // see forget_room
      if (input) self->wait(type);
      return;
    }
    if (error) return self->end({ErrorCode::io, "wait for link: " + error.message()});
    self->on_ready(input);
  });
}

// The event loop goes on watching a socket for everything that it was ever asked to watch for. Only releasing the
// socket ends that.
void LinkStream::forget_room() {
  if (!room_wakes_) return;
  asio::error_code error;
  const auto protocol = socket_.local_endpoint(error).protocol();
  if (error) return;
  const int fd = socket_.release(error);
  if (error) return;
  room_wakes_ = false;
  socket_.assign(protocol, fd, error);
  if (!error) return;
  asio::post(context_.io, [self = shared_from_this(), fd, error] {
    if (self->phase_ != Phase::closed) self->end({ErrorCode::io, "watch link: " + error.message()});
    ::close(fd);
  });
}

void LinkStream::on_ready(bool input) {
  if (!input) blocked_ = false;
  if (phase_ == Phase::handshaking) return on_handshake();
  if (!input) pump();
  if (input && phase_ == Phase::finishing && output_over_) return discard_input();
  // Reading may have had to wait for room in the output.
  if (!awaits_input_) read_frames();
}

void LinkStream::on_handshake() {
  const IoState state = tls_->handshake();
  if (state != IoState::done) return stop(state);
  const Result<PeerId> peer = tls_->peer();
  if (!peer.ok()) return end(peer.error());
  phase_ = Phase::open;
  if (const Status status = owner_->stream_secured(*this, *peer); !status.ok()) return end(status.error());
  read_frames();
}

void LinkStream::read_frames() {
  if (input_waits_ || left_for_later_ || phase_ != Phase::open) return;
  const std::shared_ptr<LinkStream> self = shared_from_this();
  const std::size_t allowed = context_.download.ask(kReadBudget, [waiting = weak_from_this()] {
    const std::shared_ptr<LinkStream> stream = waiting.lock();
    if (stream == nullptr) return;
    stream->input_waits_ = false;
    stream->read_frames();
  });
  input_waits_ = allowed == 0;
  if (input_waits_) return;
  tls_->read_ahead(context_.gathers / streams_);
  std::size_t got = 0;
  const IoState state = read_some(allowed, got);
  tls_->rest();
  context_.download.passed(got);
  if (got > 0 && phase_ == Phase::open) owner_->input_paused(*this);
  if (phase_ != Phase::open) return;
  if (state != IoState::done) return stop(state);
  if (awaits_input_ || left_for_later_) return;
  awaits_input_ = true;
  asio::post(context_.io, [self] {
    self->awaits_input_ = false;
    self->read_frames();
  });
}

// Only the volunteer's limit cuts a record short; the record has to be set aside then. When others get their turn, the
// buffer may go to them, too.
IoState LinkStream::read_some(std::size_t allowed, std::size_t& got) {
  const bool limited = allowed < kReadBudget;
  while ((got < allowed || (!limited && tls_->has_record())) && phase_ == Phase::open && !left_for_later_) {
    if (got > 0 && tls_->drained()) return IoState::want_read;
    const std::span<std::uint8_t> target = reader_.target();
    const std::size_t most = limited ? allowed - got : target.size();
    const IoStep step = tls_->read(target.first(std::min(target.size(), most)));
    if (step.state != IoState::done) return step.state;
    got += step.bytes;
    if (const Status status = advance(step.bytes); !status.ok()) end(status.error());
  }
  return IoState::done;
}

Status LinkStream::advance(std::size_t bytes) {
  STARLING_ASSIGN(const FrameReader::Event event, reader_.advance(bytes));
  if (event == FrameReader::Event::header) return begin_frame();
  if (event != FrameReader::Event::frame) return {};
  return owner_->frame_received(*this, reader_);
}

Status LinkStream::begin_frame() {
  STARLING_ASSIGN(const Wish wish, owner_->wants_frame(*this, reader_.header()));
  left_for_later_ = wish == Wish::later;
  if (left_for_later_) return {};
  if (reader_.begin_payload(wish == Wish::take) != FrameReader::Event::frame) return {};
  return owner_->frame_received(*this, reader_);
}

void LinkStream::resume() {
  if (!left_for_later_) return;
  asio::post(context_.io, [self = shared_from_this()] {
    if (!self->left_for_later_ || self->phase_ != Phase::open) return;
    if (const Status status = self->begin_frame(); !status.ok()) return self->end(status.error());
    if (!self->awaits_input_) self->read_frames();
  });
}

// A frame that another stream could take is not left waiting for this one's socket.
bool LinkStream::pull(FrameToSend& frame) {
  if (phase_ == Phase::finishing) return pull_last(frame);
  if (streams_ > 1 && tls_->flush() != IoState::done) return false;
  if (!owner_->next_frame(*this, frame) || phase_ != Phase::open) return false;
  if (frame.yields != std::exchange(yields_, frame.yields)) set_unsent_max();
  return true;
}

bool LinkStream::pull_last(FrameToSend& frame) {
  if (last_.empty()) return false;
  frame.frame.head = std::exchange(last_, {});
  frame.frame.payload = {};
  return true;
}

void LinkStream::say_first(std::vector<std::uint8_t> frame) {
  writer_.say_first(std::move(frame));
  pump();
}

std::size_t LinkStream::output_allowed() const {
  if (phase_ == Phase::open) return owner_->output_allowed(writer_.yields());
  return phase_ == Phase::finishing ? kWriteBudget : 0;
}

void LinkStream::pump() {
  if (blocked_ || output_over_ || pumping_ || pump_posted_ || output_waits_) return;
  const std::size_t wanted = std::min(kWriteBudget, output_allowed());
  if (wanted == 0) return;
  const std::size_t allowed = context_.upload.ask(wanted, [waiting = weak_from_this()] {
    const std::shared_ptr<LinkStream> stream = waiting.lock();
    if (stream == nullptr) return;
    stream->output_waits_ = false;
    stream->pump();
  });
  output_waits_ = allowed == 0;
  if (output_waits_) return;
  pumping_ = true;
  const std::size_t socket_takes = yields_ ? kNotSentMin : unsent_max_;
  tls_->gather_output(std::min(context_.gathers / streams_, std::max(TlsStream::kBufferBytes, socket_takes)));
  std::size_t budget = allowed;
  IoState state = writer_.write(*tls_, budget);
  if (phase_ == Phase::closed) return;
  if (const IoState flushed = tls_->flush(); state == IoState::done) state = flushed;
  pumping_ = false;
  const std::size_t sent = allowed - budget;
  context_.upload.passed(sent);
  if (phase_ == Phase::open) owner_->output_sent(sent);
  if (state == IoState::closed && phase_ == Phase::finishing) return close();
  // The other end's last message tells why it takes no more: for instance, it refuses our certificate.
  if (state == IoState::closed) output_over_ = true;
  if (output_over_) return;
  if (state != IoState::done) return stop(state);
  if (budget == 0) return post_pump();
  if (phase_ == Phase::finishing && !pump_posted_) await_close();
}

void LinkStream::post_pump() {
  if (std::exchange(pump_posted_, true)) return;
  asio::post(context_.io, [self = shared_from_this()] {
    self->pump_posted_ = false;
    self->pump();
  });
}

// Waits for the event that lets a stopped stream go on.
void LinkStream::stop(IoState state) {
  switch (state) {
    case IoState::want_read:
      gather_input();
      return wait(asio::ip::tcp::socket::wait_read);
    case IoState::want_write:
      blocked_ = true;
      // The socket has enough until the next tick.
      if (beats_ && phase_ == Phase::open && unsent_max_ < kNotSentMax) return;
      return wait(asio::ip::tcp::socket::wait_write);
    case IoState::closed:
      return end({ErrorCode::unavailable, "connection closed"});
    case IoState::failed:
      return end(Error(tls_->error()));
    case IoState::done:
      break;
  }
  VERIFY(false);
}

// The kernel counts on while this process does something else, so its numbers say more about the line than ours.
LossWatch::Finding LinkStream::count_traffic(Duration beat) {
  if (!socket_.is_open()) return LossWatch::Finding::nothing;
  const TcpCounters moved = tcp_counters(socket_.native_handle());
  const std::int64_t sent = moved.bytes_acknowledged - counted_.bytes_acknowledged;
  context_.moved.bytes_acknowledged += sent;
  context_.moved.bytes_delivered += moved.bytes_delivered - counted_.bytes_delivered;
  context_.moved.bytes_sent += moved.bytes_sent - counted_.bytes_sent;
  const std::int64_t received = moved.bytes_received - counted_.bytes_received;
  context_.moved.bytes_received += received;
  context_.moved.packets_behind_gap += moved.packets_behind_gap - counted_.packets_behind_gap;
  counted_ = moved;
  count_on_wire(moved);
  const TimePoint now = context_.clock.now();
  const Duration time = now - counted_at_;
  counted_at_ = now;
  if (time >= kRateTimeMin) {
    const double rate = static_cast<double>(received) / to_seconds(time);
    const double gathers = std::clamp<double>(rate * to_seconds(kGatherTime), kGatherMin, kGatherMax);
    gather_max_ = rate > kGatherRateMax ? 1 : static_cast<int>(gathers);
    if (wakes_at_ > gather_max_ && !beats_) gather_input();
  }
  // Only a link that is kept waiting shows how fast it is.
  if (blocked_ && time >= kRateTimeMin) limit_unsent(static_cast<double>(sent) / to_seconds(time));
  return loss_based_ ? losses_.note(moved, blocked_, beat) : LossWatch::Finding::nothing;
}

void LinkStream::paced() {
  if (loss_based_ || context_.congestion_control.empty() || !socket_.is_open()) return;
  const int fd = socket_.native_handle();
  const TimePoint now = context_.clock.now();
  const TcpCounters counters = now - counted_at_ < kCountsHold ? counted_ : tcp_counters(fd);
  if (while_paced_.renews(now, counters)) begin_anew(fd, context_.congestion_control);
}

void LinkStream::set_company(std::size_t streams) {
  streams_ = streams;
  context_.buffers->large.trim();  // several streams need smaller buffers
  limit_window();
}

void LinkStream::count_on_wire(const TcpCounters& moved) {
  const net::WireBytes now{moved.bytes_sent + header_bytes_ * moved.packets_sent,
                           moved.bytes_received + header_bytes_ * moved.packets_received};
  context_.on_wire.sent += now.sent - counted_on_wire_.sent;
  context_.on_wire.received += now.received - counted_on_wire_.received;
  counted_on_wire_ = now;
}

void LinkStream::limit_window() {
  const double limit = context_.download.bytes_per_s();
  if (!socket_.is_open() || (limit <= 0 && !window_limited_)) return;
  window_limited_ = true;
  net::limit_window(socket_.native_handle(), limit / static_cast<double>(streams_));
}

void LinkStream::expect_beats(bool beats) {
  if (beats_ == beats || phase_ != Phase::open) return;
  if (!beats_) forget_room();
  beats_ = beats;
  gather_input();
  if (beats) return;
  blocked_ = false;
  // The last tick may have left input that the socket will not wake us for.
  asio::post(context_.io, [self = shared_from_this()] { self->read_frames(); });
}

void LinkStream::beat() {
  blocked_ = false;
  if (phase_ == Phase::open) read_frames();
}

// The last bytes of a frame wake us in any case.
void LinkStream::gather_input() {
  std::size_t worth = 1;
  if (beats_) {
    worth = context_.download.bytes_per_s() > 0 ? kGatherMax : kBeatInputMax;
  } else if (phase_ == Phase::open && tls_->drained()) {
    worth = std::min(static_cast<std::size_t>(gather_max_), tls_->input_before(reader_.bytes_missing()));
  }
  const int wakes_at = static_cast<int>(worth);
  if (wakes_at == wakes_at_) return;
  wakes_at_ = wakes_at;
  set_option(socket_.native_handle(), SOL_SOCKET, SO_RCVLOWAT, wakes_at);
}

void LinkStream::limit_unsent(double bytes_per_s) {
  const double fits = bytes_per_s * to_seconds(beats_ ? kNotSentTimeInBeats : kNotSentTime);
  const int limit = static_cast<int>(std::clamp<double>(fits, kNotSentMin, kNotSentMax));
  if (limit > unsent_max_ * 3 / 4 && limit < unsent_max_ * 4 / 3) return;
  unsent_max_ = limit;
  set_unsent_max();
}

// Bytes that the kernel has are sent, whatever becomes urgent meanwhile.
void LinkStream::set_unsent_max() {
  set_option(socket_.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, yields_ ? kNotSentMin : unsent_max_);
}

void LinkStream::finish(std::vector<std::uint8_t> last) {
  if (phase_ != Phase::open || output_over_) return close();
  phase_ = Phase::finishing;
  blocked_ = false;
  last_ = std::move(last);
  detach_payload();
  closes_at_.emplace(context_.io, kLastWords);
  closes_at_->async_wait([self = shared_from_this()](const asio::error_code& error) {
    if (!error) self->close();
  });
  post_pump();  // posted, because this call may come from within a pump
}

void LinkStream::await_close() {
  output_over_ = true;
  ::shutdown(socket_.native_handle(), SHUT_WR);
  discard_input();
}

void LinkStream::discard_input() {
  std::array<std::uint8_t, kDiscardBytes> ignored;
  const ssize_t got = ::recv(socket_.native_handle(), ignored.data(), ignored.size(), MSG_DONTWAIT);
  const bool more_may_come = got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
  if (!more_may_come) return close();
  wait(asio::ip::tcp::socket::wait_read);
}

void LinkStream::end(const Error& why) {
  if (phase_ == Phase::finishing) return close();
  if (phase_ == Phase::closed || ended_) return;
  ended_ = true;
  owner_->stream_ended(*this, why);
  close();
}

void LinkStream::close() {
  if (phase_ == Phase::closed) return;
  phase_ = Phase::closed;
  closes_at_.reset();
  if (tls_ != nullptr) (void)tls_->flush();
  blocked_ = false;
  (void)count_traffic();
  asio::error_code ignored;
  socket_.close(ignored);
}

}  // namespace starling::transport
