#include "shared/reach/relay_talk.h"

#include <sys/socket.h>

#include <algorithm>
#include <asio/post.hpp>
#include <utility>

#include "shared/reach/keep_alive.h"

namespace starling::reach {

RelayTalk::RelayTalk(asio::ip::tcp::socket& socket, const crypto::TlsContext& tls, WallTime now, Task task)
    : socket_(socket), session_(Session::client(tls, socket.native_handle())), task_(task) {
  crypto::set_verification_time(session_.native(), now);
}

void RelayTalk::start(Done done) {
  done_ = std::move(done);
  keep_alive(socket_.native_handle());
  asio::error_code error;
  socket_.native_non_blocking(true, error);
  // The first bytes of a new connection always fit into its buffer.
  const ssize_t sent = ::send(socket_.native_handle(), kRelayGreeting.data(), kRelayGreeting.size(), MSG_NOSIGNAL);
  asio::post(socket_.get_executor(), [self = shared_from_this(), sent] {
    if (sent == static_cast<ssize_t>(kRelayGreeting.size())) return self->handshake();
    self->end(Error{ErrorCode::unavailable, "relay: the connection does not last"});
  });
}

void RelayTalk::go_on(const Session::Step& step, void (RelayTalk::*then)()) {
  const bool input = step.state == Session::State::want_read;
  if (!input && step.state != Session::State::want_write) {
    const bool gone = step.state == Session::State::closed;
    return end(gone ? Error{ErrorCode::unavailable, "the relay hung up"} : step.error.prefixed("relay"));
  }
  const auto type = input ? asio::ip::tcp::socket::wait_read : asio::ip::tcp::socket::wait_write;
  socket_.async_wait(type, [self = shared_from_this(), then](const asio::error_code& error) {
    if (self->done_ == nullptr && self->called_ == nullptr) return;  // cancelled: the socket may be gone
    if (error) return self->end(Error{ErrorCode::unavailable, "relay: " + error.message()});
    ((*self).*then)();
  });
}

void RelayTalk::handshake() {
  if (done_ == nullptr) return;
  const Session::Step step = session_.handshake();
  if (step.state != Session::State::done) return go_on(step, &RelayTalk::handshake);
  const Result<PeerId> peer = crypto::peer_id_of(session_.native());
  if (!peer) return end(peer.error());
  if (*peer != task_.relay) {
    return end(Error{ErrorCode::unauthenticated,
                     "another computer answers there: " + peer->brief() + " instead of " + task_.relay.brief()});
  }
  if (!task_.request) return end({});
  outgoing_ = encode(*task_.request);
  send_request();
}

void RelayTalk::send_request() {
  const Session::Step step = session_.write(outgoing_);
  if (step.state != Session::State::done) return go_on(step, &RelayTalk::send_request);
  VERIFY(step.size == outgoing_.size());  // partial writes are not enabled
  read_answer();
}

// Reads one record, which holds one byte. Bytes after it belong to another session.
void RelayTalk::read_answer() {
  const Session::Step step = session_.read({incoming_.data(), 1});
  if (step.state != Session::State::done) return go_on(step, &RelayTalk::read_answer);
  end(judge_answer(static_cast<std::uint8_t>(incoming_.front())));
}

void RelayTalk::await_calls(Called called) {
  called_ = std::move(called);
  read_call();
}

void RelayTalk::read_call() {
  const auto room = std::span(incoming_).subspan(incoming_bytes_);
  const Session::Step step = session_.read(room);
  if (step.state != Session::State::done) return go_on(step, &RelayTalk::read_call);
  incoming_bytes_ += step.size;
  if (incoming_bytes_ == incoming_.size()) {
    incoming_bytes_ = 0;
    PeerId caller;
    std::copy(incoming_.begin(), incoming_.end(), caller.bytes.begin());
    const Called called = called_;  // a copy: it may cancel
    called(caller);
  }
  if (called_ == nullptr) return;
  asio::post(socket_.get_executor(), [self = shared_from_this()] {
    if (self->called_ != nullptr) self->read_call();
  });
}

void RelayTalk::end(const Status& status) {
  if (const Done done = std::exchange(done_, nullptr)) return done(status);
  if (const Called called = std::exchange(called_, nullptr)) called(status.error());
}

}  // namespace starling::reach
