// One connection to a relay, from its greeting until it is joined to another, or gone. For relay.cpp.
#pragma once

#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <memory>

#include "shared/crypto/tls_session.h"
#include "shared/reach/address_prefix.h"
#include "shared/reach/relay.h"

namespace starling::reach {

class Relay::Visitor : public std::enable_shared_from_this<Visitor> {
 public:
  // The relay outlives the visitor's connection: it hangs up on all that are left.
  Visitor(Relay& relay, asio::ip::tcp::socket socket, std::int64_t number);

  void start();
  // Sends the answer to a visitor's request; from then on only watches for its leaving.
  bool answer(RelayAnswer answer);
  // Tells a posted visitor of a call. False when it does not read.
  bool tell_of(const PeerId& caller);
  // Waits for the other end of its call.
  void wait_for_other();
  // Gives away the connection of an accepted call.
  asio::ip::tcp::socket take_socket();
  void hang_up();

  [[nodiscard]] const PeerId& peer() const { return peer_; }
  [[nodiscard]] const PeerId& called() const { return request_.peer; }
  [[nodiscard]] std::int64_t number() const { return number_; }
  [[nodiscard]] AddressPrefix from() const {
    asio::error_code gone;
    return prefix_of(socket_.remote_endpoint(gone).address());
  }
  [[nodiscard]] bool has_asked() const { return asked_; }
  [[nodiscard]] bool posted() const { return request_.kind == RelayRequestKind::post && asked_; }

 private:
  using Session = crypto::TlsSession;
  void go_on(const Session::Step& step, void (Visitor::*then)());
  void await(asio::ip::tcp::socket::wait_type type, void (Visitor::*then)());
  void greet();
  void handshake();
  void read_request();
  void watch();
  bool send(std::string_view bytes);
  void set_deadline();

  Relay& relay_;
  const std::int64_t number_;
  asio::ip::tcp::socket socket_;
  asio::steady_timer deadline_;
  Session session_;
  PeerId peer_;
  RelayRequest request_;
  bool asked_ = false;
  bool open_ = true;
};

}  // namespace starling::reach
