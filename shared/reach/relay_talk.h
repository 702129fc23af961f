// The calling end of an exchange with a relay, over a connected socket that somebody else owns: greeting, TLS, request,
// answer. One thread: that of the socket.
#pragma once

#include <asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "shared/base/clock.h"
#include "shared/crypto/tls_session.h"
#include "shared/reach/relay_protocol.h"

namespace starling::reach {

class RelayTalk : public std::enable_shared_from_this<RelayTalk> {
 public:
  struct Task {
    PeerId relay;  // any other peer there gives unauthenticated
    // Empty: the exchange ends with the handshake, which proves the other end's identity.
    std::optional<RelayRequest> request;
  };
  using Done = std::function<void(const Status&)>;
  using Called = std::function<void(const Result<PeerId>&)>;

  // Certificates are judged by `now`. The socket must outlive the talk, unless cancel() is called before it goes.
  RelayTalk(asio::ip::tcp::socket& socket, const crypto::TlsContext& tls, WallTime now, Task task);

  // Calls `done` once, not from within start, unless cancelled before. After an accepted call the socket carries the
  // other peer's bytes, and the talk is over.
  void start(Done done);
  // To be called after an accepted post: calls `called` for every peer that calls, and once with an error when the
  // relay is gone.
  void await_calls(Called called);
  void cancel() { done_ = nullptr, called_ = nullptr; }

 private:
  using Session = crypto::TlsSession;
  // Calls `then` when the socket is ready as `step` requires; reports a failed or closed session as the end of the
  // talk.
  void go_on(const Session::Step& step, void (RelayTalk::*then)());
  void handshake();
  void send_request();
  void read_answer();
  void read_call();
  void end(const Status& status);

  asio::ip::tcp::socket& socket_;
  Session session_;
  Task task_;
  std::string outgoing_;
  std::array<char, PeerId::kSize> incoming_{};
  std::size_t incoming_bytes_ = 0;
  Done done_;
  Called called_;
};

}  // namespace starling::reach
