#include "coordinator/gate/connection.h"

#include <sys/socket.h>

#include <asio/post.hpp>
#include <cerrno>
#include <utility>

#include "coordinator/gate/forwarded.h"

namespace starling::gate {
namespace {

constexpr int kStepsAtOnce = 16;  // then other connections have their turn
constexpr std::size_t kFilePieceBytes = 64 * 1024;
// After a refusal, bytes that the client still sends are read and dropped for this time; otherwise its end of the
// socket would see a reset before it has read the reason.
constexpr Duration kLingerDeadline = from_ms(1'000);
constexpr std::size_t kLingerBytesMax = 1024 * 1024;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

Connection::Connection(const Settings& settings, const crypto::TlsContext& tls, asio::posix::stream_descriptor socket,
                       Address address)
    : settings_(settings),
      socket_(std::move(socket)),
      tls_(crypto::TlsSession::server(tls, socket_.native_handle())),
      address_(std::move(address)),
      deadline_(now() + limits().handshake_deadline),
      expires_(now() + limits().connection_lifetime),
      parser_(limits()) {}

// Continues until the socket has nothing to give or take, or a worker has the request.
void Connection::pump() {
  for (int i = 0; i < kStepsAtOnce; ++i) {
    if (phase_ == Phase::working || phase_ == Phase::closed) return;
    const Phase before = phase_;
    const Step outcome = step();
    if (outcome == Step::closed || outcome == Step::failed) {
      return close(before == Phase::handshake ? End::handshake_failed : End::lost);
    }
    if (outcome != Step::done) return wait(outcome);
  }
  asio::post(settings_.io, [self = shared_from_this()] { self->pump(); });
}

void Connection::wait(Step step) {
  const auto direction =
      step == Step::want_write ? asio::posix::stream_descriptor::wait_write : asio::posix::stream_descriptor::wait_read;
  socket_.async_wait(direction, [self = shared_from_this()](const asio::error_code& error) {
    if (!error) self->pump();
  });
}

Connection::Step Connection::step() {
  switch (phase_) {
    case Phase::handshake:
      return handshake();
    case Phase::reading:
      return read_some();
    case Phase::writing:
      return write_some();
    case Phase::lingering:
      return discard_some();
    case Phase::working:
    case Phase::closed:
      break;
  }
  return Step::closed;
}

Connection::Step Connection::handshake() {
  const crypto::TlsSession::Step outcome = tls_.handshake();
  if (outcome.state == Step::failed && outcome.error.code == ErrorCode::unauthenticated) {
    settings_.mediator.on_untrusted(*this, outcome.error);
  }
  if (outcome.state != Step::done) return outcome.state;
  const Result<PeerId> peer = crypto::peer_id_of(tls_.native());
  if (peer) peer_ = *peer;
  phase_ = Phase::reading;
  deadline_ = now() + limits().header_deadline;  // a client is expected to send a request at once
  return Step::done;
}

Connection::Step Connection::read_some() {
  if (!ahead_.empty()) {
    const std::string bytes = std::exchange(ahead_, {});
    on_bytes(bytes);
    return Step::done;
  }
  const std::span<char> buffer = settings_.mediator.read_buffer();
  const crypto::TlsSession::Step step = tls_.read(buffer);
  if (step.state == Step::done) on_bytes({buffer.data(), step.size});
  return step.state;
}

void Connection::on_bytes(std::string_view bytes) {
  const bool had_begun = parser_.begun();
  const std::size_t used = parser_.feed(bytes);
  ahead_.assign(bytes.substr(used));
  if (!had_begun) {
    request_began_ = now();
    deadline_ = request_began_ + limits().header_deadline;
  }
  switch (parser_.state()) {
    case RequestParser::State::head:
      break;
    case RequestParser::State::body:
      deadline_ = request_began_ + limits().request_deadline;
      if (parser_.take_continue()) {
        interim_ = true;
        reply({std::string(kContinue), {}, false});
      }
      break;
    case RequestParser::State::complete:
      submit();
      break;
    case RequestParser::State::refused:
      settings_.mediator.on_refused();
      reply(error_reply(parser_.refusal().status, parser_.refusal().reason, true));
      break;
  }
}

void Connection::submit() {
  WorkerPool::Job job{parser_.take(), {peer_, ""}, {}};
  // A client with a certificate of ours has come through no proxy that ends TLS, so its headers are its own.
  const ForwardedCaller caller =
      peer_ ? ForwardedCaller{address_.text, {}} : caller_of(address_.text, job.request.headers, settings_.proxies);
  job.caller.address = caller.address;
  if (!caller.unreadable.empty()) settings_.mediator.on_unreadable_client(address_, caller.unreadable);
  ++requests_;
  if (draining_ || requests_ >= limits().requests_per_connection_max || now() >= expires_) {
    job.request.keep_alive = false;
  }
  const bool close_after = !job.request.keep_alive;
  phase_ = Phase::working;
  deadline_ = kNever;
  job.done = [self = shared_from_this(), &io = settings_.io](Reply reply) {
    asio::post(io, [self, reply = std::move(reply)]() mutable {
      if (self->phase_ == Phase::closed) return;
      self->reply(std::move(reply));
      self->pump();
    });
  };
  if (!settings_.mediator.submit(job)) reply(error_reply(503, "the coordinator is busy; try again later", close_after));
}

void Connection::reply(Reply reply) {
  reply_ = std::move(reply);
  sent_ = 0;
  window_bytes_ = 0;
  phase_ = Phase::writing;
  deadline_ = now() + limits().response_window;
}

Connection::Step Connection::write_some() {
  if (sent_ == reply_.bytes.size()) {
    if (reply_.file.empty()) return finish_reply();
    reply_.bytes.clear();
    sent_ = 0;
    // If a file shrank while it was sent, the client sees an early end rather than wrong content.
    if (!reply_.file.read_some(reply_.bytes, kFilePieceBytes)) return Step::failed;
  }
  const crypto::TlsSession::Step step = tls_.write(std::string_view(reply_.bytes).substr(sent_));
  sent_ += step.size;
  window_bytes_ += step.size;
  return step.state;
}

Connection::Step Connection::finish_reply() {
  const bool last = reply_.close || (draining_ && !interim_);
  reply_ = {};
  if (std::exchange(interim_, false)) {
    phase_ = Phase::reading;
    deadline_ = request_began_ + limits().request_deadline;
  } else if (last) {
    linger();
  } else {
    await_request();
  }
  return Step::done;
}

void Connection::await_request() {
  phase_ = Phase::reading;
  deadline_ = now() + limits().idle_deadline;
}

void Connection::linger() {
  tls_.close();
  ::shutdown(socket_.native_handle(), SHUT_WR);
  phase_ = Phase::lingering;
  window_bytes_ = 0;
  deadline_ = now() + kLingerDeadline;
}

Connection::Step Connection::discard_some() {
  const std::span<char> buffer = settings_.mediator.read_buffer();
  const ssize_t count = ::recv(socket_.native_handle(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (count < 0 && errno == EAGAIN) return Step::want_read;
  if (count <= 0) return Step::closed;
  window_bytes_ += static_cast<std::size_t>(count);
  return window_bytes_ > kLingerBytesMax ? Step::closed : Step::done;
}

void Connection::check_deadline(TimePoint now) {
  if (now < deadline_) return;
  if (phase_ == Phase::writing) {
    const double wanted =
        to_seconds(limits().response_window) * static_cast<double>(limits().response_bytes_per_second_min);
    if (static_cast<double>(window_bytes_) < wanted) return close(End::timed_out);
    window_bytes_ = 0;
    deadline_ = now + limits().response_window;
  } else if (phase_ == Phase::lingering || (phase_ == Phase::reading && !parser_.begun() && requests_ > 0)) {
    close(End::normal);  // it has its answer, and was idle long enough
  } else {
    close(End::timed_out);
  }
}

void Connection::drain() {
  draining_ = true;
  const bool idle = phase_ == Phase::handshake || (phase_ == Phase::reading && !parser_.begun());
  if (idle) close(End::normal);
}

void Connection::close(End end) {
  if (phase_ == Phase::closed) return;
  const auto self = shared_from_this();  // the mediator may release the last other reference
  settings_.mediator.on_closed(*this, end);
  if (phase_ == Phase::reading && end != End::lost) tls_.close();
  phase_ = Phase::closed;
  asio::error_code ignored;
  socket_.close(ignored);
}

}  // namespace starling::gate
