#include "client/transport/link_stream.h"

#include <fcntl.h>
#include <fmt/core.h>
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

void configure(int fd) {
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);  // a child process that held the socket would keep the link alive after us
  reach::keep_alive(fd);
}

}  // namespace

LinkStream::LinkStream(LinkContext& context, Owner& owner, asio::ip::tcp::socket socket)
    : context_(context),
      owner_(&owner),
      socket_(std::move(socket)),
      writer_([this](FrameToSend& frame) { return pull(frame); }) {}

LinkStream::~LinkStream() = default;

void LinkStream::begin(const crypto::TlsContext& tls, PeerTlsStream::Role role) {
  asio::error_code error;
  socket_.native_non_blocking(true, error);
  if (error) return end({ErrorCode::io, "open link: " + error.message()});
  const int fd = socket_.native_handle();
  configure(fd);
  buffers_.begin(fd);
  const bool far = tcp_counters(fd).round_trip_least >= context_.far_from;
  if (far) set_congestion_control(fd, context_.congestion_control);
  meter_.begin(fd);
  limit_window();
  const PeerTlsStream::Socket on{fd, context_.buffers};
  tls_ = std::make_unique<PeerTlsStream>(tls, on, role, context_.clock.wall_now());
  on_handshake();
}

void LinkStream::wait(asio::ip::tcp::socket::wait_type type) {
  const bool input = type == asio::ip::tcp::socket::wait_read;
  if (input && input_.awaited) return;
  if (input) input_.awaited = true;
  if (!input) room_wakes_ = true;
  socket_.async_wait(type, [self = shared_from_this(), input, type](const asio::error_code& error) {
    if (self->phase_ == Phase::closed) return;
    if (input) self->input_.awaited = false;
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
  if (!input) output_.blocked = false;
  if (phase_ == Phase::handshaking) return on_handshake();
  if (!input) pump();
  if (input && phase_ == Phase::finishing && output_.over) return discard_input();
  // Reading may have had to wait for room in the output.
  if (!input_.awaited) read_frames();
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
  if (input_.waits || input_.left_for_later || phase_ != Phase::open) return;
  const std::shared_ptr<LinkStream> self = shared_from_this();
  const std::size_t allowed = context_.download.ask(kReadBudget, [waiting = weak_from_this()] {
    const std::shared_ptr<LinkStream> stream = waiting.lock();
    if (stream == nullptr) return;
    stream->input_.waits = false;
    stream->read_frames();
  });
  input_.waits = allowed == 0;
  if (input_.waits) return;
  tls_->read_ahead(context_.gathers / streams_);
  std::size_t got = 0;
  const IoState state = read_some(allowed, got);
  tls_->rest();
  context_.download.passed(got);
  if (got > 0 && phase_ == Phase::open) owner_->input_paused(*this);
  if (phase_ != Phase::open) return;
  if (state != IoState::done) return stop(state);
  if (input_.awaited || input_.left_for_later) return;
  input_.awaited = true;
  asio::post(context_.io, [self] {
    self->input_.awaited = false;
    self->read_frames();
  });
}

// Only the volunteer's limit cuts a record short; the record has to be set aside then. When others get their turn, the
// buffer may go to them, too.
IoState LinkStream::read_some(std::size_t allowed, std::size_t& got) {
  const bool limited = allowed < kReadBudget;
  while ((got < allowed || (!limited && tls_->has_record())) && phase_ == Phase::open && !input_.left_for_later) {
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
  STARLING_ASSIGN(const Disposition disposition, owner_->wants_frame(*this, reader_.header()));
  input_.left_for_later = disposition == Disposition::later;
  if (input_.left_for_later) return {};
  if (reader_.begin_payload(disposition == Disposition::take) != FrameReader::Event::frame) return {};
  return owner_->frame_received(*this, reader_);
}

void LinkStream::resume() {
  if (!input_.left_for_later) return;
  asio::post(context_.io, [self = shared_from_this()] {
    if (!self->input_.left_for_later || self->phase_ != Phase::open) return;
    if (const Status status = self->begin_frame(); !status.ok()) return self->end(status.error());
    if (!self->input_.awaited) self->read_frames();
  });
}

// A frame that another stream could take is not left waiting for this one's socket.
bool LinkStream::pull(FrameToSend& frame) {
  if (phase_ == Phase::finishing) return pull_last(frame);
  if (streams_ > 1 && tls_->flush() != IoState::done) return false;
  if (!owner_->next_frame(*this, frame) || phase_ != Phase::open) return false;
  buffers_.set_yields(socket_.native_handle(), frame.yields);
  return true;
}

bool LinkStream::pull_last(FrameToSend& frame) {
  if (output_.last.empty()) return false;
  frame.frame.head = std::exchange(output_.last, {});
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
  if (output_.blocked || output_.over || output_.pumping || output_.pump_posted || output_.waits) return;
  const std::size_t wanted = std::min(kWriteBudget, output_allowed());
  if (wanted == 0) return;
  const std::size_t allowed = context_.upload.ask(wanted, [waiting = weak_from_this()] {
    const std::shared_ptr<LinkStream> stream = waiting.lock();
    if (stream == nullptr) return;
    stream->output_.waits = false;
    stream->pump();
  });
  output_.waits = allowed == 0;
  if (output_.waits) return;
  output_.pumping = true;
  const std::size_t socket_takes = std::max(PeerTlsStream::kBufferBytes, buffers_.unsent_max());
  tls_->gather_output(std::min(context_.gathers / streams_, socket_takes));
  std::size_t budget = allowed;
  IoState state = writer_.write(*tls_, budget);
  if (phase_ == Phase::closed) return;
  if (const IoState flushed = tls_->flush(); state == IoState::done) state = flushed;
  output_.pumping = false;
  const std::size_t sent = allowed - budget;
  context_.upload.passed(sent);
  if (phase_ == Phase::open) owner_->output_sent(sent);
  if (state == IoState::closed && phase_ == Phase::finishing) return close();
  // The other end's last message tells why it takes no more: for instance, it refuses our certificate.
  if (state == IoState::closed) output_.over = true;
  if (output_.over) return;
  if (state != IoState::done) return stop(state);
  if (budget == 0) return post_pump();
  if (phase_ == Phase::finishing && !output_.pump_posted) await_close();
}

void LinkStream::post_pump() {
  if (std::exchange(output_.pump_posted, true)) return;
  asio::post(context_.io, [self = shared_from_this()] {
    self->output_.pump_posted = false;
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
      output_.blocked = true;
      // The socket has enough until the next tick.
      if (ticks_ && phase_ == Phase::open && buffers_.limits_unsent()) return;
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

LossWatch::Finding LinkStream::count_traffic(Duration tick) {
  if (!socket_.is_open()) return LossWatch::Finding::nothing;
  const int fd = socket_.native_handle();
  const StreamMeter::Reading reading = meter_.read(context_.clock.now(), fd, output_.blocked, tick);
  context_.moved.bytes_acknowledged += reading.moved.bytes_acknowledged;
  context_.moved.bytes_delivered += reading.moved.bytes_delivered;
  context_.moved.bytes_sent += reading.moved.bytes_sent;
  context_.moved.bytes_received += reading.moved.bytes_received;
  context_.moved.packets_behind_gap += reading.moved.packets_behind_gap;
  context_.on_wire.sent += reading.on_wire.sent;
  context_.on_wire.received += reading.on_wire.received;
  if (reading.time < SocketBuffers::kRateTimeMin) return reading.finding;
  const double seconds = to_seconds(reading.time);
  const bool wakes_late = buffers_.on_received(static_cast<double>(reading.moved.bytes_received) / seconds);
  if (wakes_late && !ticks_) gather_input();
  const double sent_per_s = static_cast<double>(reading.moved.bytes_acknowledged) / seconds;
  if (output_.blocked) buffers_.on_sent(fd, sent_per_s, ticks_);
  return reading.finding;
}

void LinkStream::paced() {
  if (meter_.loss_based() || context_.congestion_control.empty() || !socket_.is_open()) return;
  const int fd = socket_.native_handle();
  const TimePoint now = context_.clock.now();
  if (while_paced_.renews(now, meter_.recent(now, fd))) begin_anew(fd, context_.congestion_control);
}

void LinkStream::set_company(std::size_t streams) {
  streams_ = streams;
  context_.buffers->large.trim();  // several streams need smaller buffers
  limit_window();
}

void LinkStream::limit_window() {
  if (!socket_.is_open()) return;
  buffers_.limit_window(socket_.native_handle(), context_.download.bytes_per_s() / static_cast<double>(streams_));
}

void LinkStream::expect_ticks(bool ticks) {
  if (ticks_ == ticks || phase_ != Phase::open) return;
  if (!ticks_) forget_room();
  ticks_ = ticks;
  gather_input();
  if (ticks) return;
  output_.blocked = false;
  // The last tick may have left input that the socket will not wake us for.
  asio::post(context_.io, [self = shared_from_this()] { self->read_frames(); });
}

void LinkStream::tick() {
  output_.blocked = false;
  if (phase_ == Phase::open) read_frames();
}

void LinkStream::gather_input() {
  std::size_t worth = 1;
  if (ticks_) {
    worth = SocketBuffers::gather_in_ticks(context_.download.bytes_per_s() > 0);
  } else if (phase_ == Phase::open && tls_->drained()) {
    worth = std::min(buffers_.gather_max(), tls_->input_before(reader_.bytes_missing()));
  }
  buffers_.wake_at(socket_.native_handle(), worth);
}

void LinkStream::finish(std::vector<std::uint8_t> last) {
  if (phase_ != Phase::open || output_.over) return close();
  phase_ = Phase::finishing;
  output_.blocked = false;
  output_.last = std::move(last);
  detach_payload();
  closes_at_.emplace(context_.io, kLastWords);
  closes_at_->async_wait([self = shared_from_this()](const asio::error_code& error) {
    if (!error) self->close();
  });
  post_pump();  // posted, because this call may come from within a pump
}

void LinkStream::await_close() {
  output_.over = true;
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
  output_.blocked = false;
  (void)count_traffic();
  asio::error_code ignored;
  socket_.close(ignored);
}

}  // namespace starling::transport
