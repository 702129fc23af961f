// One HTTPS connection of a load generator to a coordinator on loopback: one request at a time, never blocking.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "shared/base/unique_fd.h"
#include "shared/crypto/tls_session.h"
#include "tests/bench/event_loop.h"

namespace starling::bench {

class HttpsConnection {
 public:
  // Called once per request, with the body of a 200; any other reply is an error and ends the connection. May destroy
  // the connection.
  using Done = std::function<void(Result<std::string>)>;

  // Connects at once. The loop must outlive the connection.
  HttpsConnection(EventLoop& loop, std::uint16_t port, const crypto::TlsContext& tls);
  ~HttpsConnection();
  HttpsConnection(const HttpsConnection&) = delete;
  HttpsConnection& operator=(const HttpsConnection&) = delete;

  void post(const std::string& path, const std::string& body, Done done);
  // Sends any bytes as a request.
  void send(std::string request, Done done);
  // Adds bytes to the request under way, if there is one.
  void add(std::string_view bytes);

 private:
  using Step = crypto::TlsSession::Step;

  void advance();
  Step step();
  Step receive();
  void end(Result<std::string> result);

  EventLoop& loop_;
  UniqueFd socket_;
  crypto::TlsSession tls_;
  bool ready_ = false;  // the handshake is over
  bool writes_ = true;  // the loop reports when the socket can be written
  bool over_ = false;
  std::string out_;
  std::size_t sent_ = 0;
  std::string in_;
  Done done_;  // null: idle
};

}  // namespace starling::bench
