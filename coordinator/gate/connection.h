// One client's connection from accept to close: handshake, requests one after another, their replies. Everything here
// runs on the gate's thread. Every phase has a deadline, except a handler's run.
#pragma once

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "coordinator/gate/address.h"
#include "coordinator/gate/reply.h"
#include "coordinator/gate/request_parser.h"
#include "coordinator/gate/worker_pool.h"
#include "shared/base/clock.h"
#include "shared/crypto/tls_session.h"

namespace starling::gate {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  enum class End : std::uint8_t { normal, lost, handshake_failed, timed_out };

  class Mediator {
   public:
    virtual ~Mediator() = default;
    // False if the queue is full.
    virtual bool submit(WorkerPool::Job& job) = 0;
    virtual void on_refused() = 0;  // a request was malformed or over a limit
    // A trusted proxy noted something else than an address, so its own counts as the client's.
    virtual void on_unreadable_client(const Address& proxy, const std::string& entry) = 0;
    // The handshake failed because one end does not accept the other's certificate.
    virtual void on_untrusted(const Connection& connection, const Error& why) = 0;
    virtual void on_closed(Connection& connection, End end) = 0;
    virtual std::span<char> read_buffer() = 0;  // shared by all connections; used for one read at a time
  };

  struct Settings {
    asio::io_context& io;
    const GateLimits& limits;
    const Clock& clock;
    Mediator& mediator;
    std::span<const std::string> proxies = {};  // GateOptions::trusted_proxies
  };
  // References in `settings` must outlive the connection.
  Connection(const Settings& settings, const crypto::TlsContext& tls, asio::posix::stream_descriptor socket,
             Address address);

  void start() { pump(); }
  // Closes the connection if the present phase has taken too long.
  void check_deadline(TimePoint now);
  // Closes at once if no request has begun, otherwise after its reply.
  void drain();
  void close(End end);
  [[nodiscard]] const Address& address() const { return address_; }

 private:
  enum class Phase : std::uint8_t { handshake, reading, working, writing, lingering, closed };
  using Step = crypto::TlsSession::State;

  void pump();
  void wait(Step step);
  Step step();
  Step handshake();
  Step read_some();
  Step write_some();
  Step discard_some();

  void on_bytes(std::string_view bytes);
  void submit();
  void reply(Reply reply);
  Step finish_reply();
  void linger();
  void await_request();
  [[nodiscard]] TimePoint now() const { return settings_.clock.now(); }
  [[nodiscard]] const GateLimits& limits() const { return settings_.limits; }

  const Settings settings_;
  asio::posix::stream_descriptor socket_;
  crypto::TlsSession tls_;
  const Address address_;
  std::optional<PeerId> peer_;
  Phase phase_ = Phase::handshake;
  TimePoint deadline_;       // end of the present phase
  const TimePoint expires_;  // end of the connection's lifetime
  TimePoint request_began_{};
  RequestParser parser_;
  std::string ahead_;  // bytes of requests after the present one; at most one read buffer
  Reply reply_;
  std::size_t sent_ = 0;          // bytes of reply_.bytes already sent
  std::size_t window_bytes_ = 0;  // bytes sent, or discarded when lingering, since the last deadline
  std::int64_t requests_ = 0;
  bool interim_ = false;  // the reply is a "100 Continue"
  bool draining_ = false;
};

}  // namespace starling::gate
