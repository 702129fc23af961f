#include "shared/reach/relay_visitor.h"

#include <sys/socket.h>

#include <asio/post.hpp>
#include <string_view>
#include <utility>

#include "shared/reach/keep_alive.h"

namespace starling::reach {

Relay::Visitor::Visitor(Relay& relay, asio::ip::tcp::socket socket, std::int64_t number)
    : relay_(relay),
      number_(number),
      socket_(std::move(socket)),
      deadline_(relay.io_),
      session_(Session::server(relay.tls_, socket_.native_handle())) {
  crypto::set_verification_time(session_.native(), relay.clock_.wall_now());
}

void Relay::Visitor::start() {
  keep_alive(socket_.native_handle());
  asio::error_code error;
  socket_.native_non_blocking(true, error);
  set_deadline();
  await(asio::ip::tcp::socket::wait_read, &Visitor::greet);
}

void Relay::Visitor::set_deadline() {
  deadline_.expires_after(relay_.limits_.patience);
  deadline_.async_wait([self = shared_from_this()](const asio::error_code& stopped) {
    if (stopped || !self->open_) return;
    if (self->asked_) (void)self->answer(RelayAnswer::nobody_came);
    self->hang_up();
  });
}

void Relay::Visitor::await(asio::ip::tcp::socket::wait_type type, void (Visitor::*then)()) {
  socket_.async_wait(type, [self = shared_from_this(), then](const asio::error_code& error) {
    if (!self->open_) return;
    if (error) return self->hang_up();
    ((*self).*then)();
  });
}

void Relay::Visitor::go_on(const Session::Step& step, void (Visitor::*then)()) {
  if (step.state == Session::State::want_read) return await(asio::ip::tcp::socket::wait_read, then);
  if (step.state == Session::State::want_write) return await(asio::ip::tcp::socket::wait_write, then);
  hang_up();
}

void Relay::Visitor::greet() {
  std::array<char, kRelayGreeting.size()> bytes{};
  const ssize_t got = ::recv(socket_.native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got < 0 || std::string_view(bytes.data(), static_cast<std::size_t>(got)) != kRelayGreeting) return hang_up();
  handshake();
}

void Relay::Visitor::handshake() {
  const Session::Step step = session_.handshake();
  if (step.state != Session::State::done) return go_on(step, &Visitor::handshake);
  const Result<PeerId> peer = crypto::peer_id_of(session_.native());
  if (!peer) return hang_up();
  peer_ = *peer;
  read_request();
}

// A request is one record, so it comes whole.
void Relay::Visitor::read_request() {
  std::array<char, kRelayRequestBytes> bytes{};
  const Session::Step step = session_.read(bytes);
  if (step.state != Session::State::done) return go_on(step, &Visitor::read_request);
  const Result<RelayRequest> request = decode_relay_request(std::span(bytes).first(step.size));
  if (!request) return hang_up();
  request_ = *request;
  asked_ = true;
  if (posted()) return relay_.on_post(shared_from_this());
  relay_.on_call(shared_from_this(), request_.peer);
}

bool Relay::Visitor::send(std::string_view bytes) {
  return open_ && session_.write(bytes).state == Session::State::done;
}

bool Relay::Visitor::answer(RelayAnswer answer) {
  const char byte = static_cast<char>(answer);
  if (!send({&byte, 1})) return false;
  if (posted()) {
    deadline_.cancel();
    watch();
  }
  return true;
}

bool Relay::Visitor::tell_of(const PeerId& caller) {
  return send({reinterpret_cast<const char*>(caller.bytes.data()), caller.bytes.size()});
}

void Relay::Visitor::wait_for_other() {
  set_deadline();
  watch();
}

// A waiting visitor sends nothing: any input means that it is gone, or breaks the protocol.
void Relay::Visitor::watch() { await(asio::ip::tcp::socket::wait_read, &Visitor::hang_up); }

asio::ip::tcp::socket Relay::Visitor::take_socket() {
  open_ = false;
  deadline_.cancel();
  asio::error_code ignored;
  socket_.cancel(ignored);
  return std::move(socket_);
}

void Relay::Visitor::hang_up() {
  if (!std::exchange(open_, false)) return;
  asio::error_code ignored;
  socket_.close(ignored);
  deadline_.cancel();
  relay_.on_left(shared_from_this());
}

}  // namespace starling::reach
