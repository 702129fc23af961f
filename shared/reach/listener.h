// Accepts calls on the peer port. One failed accept (no descriptors left, a caller gone) never ends it. Net thread.
#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <functional>
#include <string>

#include "shared/base/result.h"

namespace starling::reach {

class Listener {
 public:
  using TakeCall = std::function<void(asio::ip::tcp::socket)>;

  Listener(asio::io_context& io, TakeCall take_call) : acceptor_(io), retry_(io), take_call_(std::move(take_call)) {}

  // `host` is an IP literal; port 0 takes any free one. "::" accepts IPv4 too, and is 0.0.0.0 on systems without IPv6.
  Status listen(const std::string& host, int port);
  [[nodiscard]] int port() const { return port_; }
  // Accepted sockets inherit this socket's options.
  [[nodiscard]] int native_handle() { return acceptor_.native_handle(); }

 private:
  Status open(const asio::ip::tcp::endpoint& endpoint);
  void accept_next();

  asio::ip::tcp::acceptor acceptor_;
  asio::steady_timer retry_;
  TakeCall take_call_;
  int port_ = 0;
};

}  // namespace starling::reach
