// The front door of the coordinator: accepts, TLS, limits and deadlines on one thread; only a complete, bounded request
// reaches a worker thread and its handler. Slow, silent or hostile connections cost a socket and a few kilobytes, never
// a worker.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/gate/router.h"
#include "shared/base/clock.h"
#include "shared/base/result.h"

namespace starling::crypto {
class TlsContext;
}

namespace starling::gate {

// Every limit by name. A client that breaks one gets the 4xx for it, if it can still be answered, and is closed.
struct GateLimits {
  int connections_max = 10'000;
  int connections_per_address_max = 64;       // per IPv4 address or IPv6 /64
  int connections_per_loopback_max = 10'000;  // from this machine itself: a proxy or a load generator
  Duration handshake_deadline = from_ms(10'000);
  Duration header_deadline = from_ms(10'000);         // from the first byte of a request to the end of its head
  Duration request_deadline = from_ms(20'000);        // from the first byte of a request to the end of its body
  Duration idle_deadline = from_ms(75'000);           // between requests; longer than a usual heartbeat interval
  Duration connection_lifetime = from_ms(3'600'000);  // then the next answer closes it, because certificates expire
  std::size_t request_line_bytes_max = 8 * 1024;
  std::size_t header_bytes_max = 16 * 1024;
  int headers_max = 100;
  std::size_t body_bytes_max = 128 * 1024;
  int queue_max = 1024;                                // complete requests that wait for a worker; more get a 503
  std::int64_t requests_per_connection_max = 100'000;  // then the answer closes it
  // A client that reads a response more slowly than this on average over a window is disconnected.
  std::int64_t response_bytes_per_second_min = 1024;
  Duration response_window = from_ms(10'000);
};

// The listening address, the workers behind it and the limits, fixed for the gate's life.
struct GateOptions {
  std::string address = "0.0.0.0";  // an IP literal
  std::uint16_t port = 0;           // 0: any free port, see port()
  int workers = 4;
  // Addresses of proxies that end TLS: their X-Forwarded-For is trusted (forwarded.h), and for limits on connections
  // they count as this machine's own.
  std::vector<std::string> trusted_proxies = {};
  Duration stop_grace = from_ms(5'000);  // time for requests that have begun to end after stop()
  GateLimits limits = {};
};

// Counts since the gate was made, save for the open connections, which are those of the moment.
struct GateStats {
  std::int64_t connections_open = 0;
  std::int64_t connections_accepted = 0;
  std::int64_t connections_refused = 0;  // by a limit on connections
  std::int64_t accept_failures = 0;
  std::int64_t handshakes_failed = 0;
  std::int64_t requests_served = 0;
  std::int64_t requests_refused = 0;   // 4xx answers of the gate itself
  std::int64_t requests_overload = 0;  // 503 answers because the queue was full
  std::int64_t connections_timed_out = 0;
};

class Gate {
 public:
  // Binds and listens. The router must outlive the gate and be complete by now. Error unavailable if the port is in
  // use, with the address in the message.
  static Result<std::unique_ptr<Gate>> create(const GateOptions& options, const crypto::TlsContext& tls,
                                              const Router& router);
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // Serves until stop(). Uses the calling thread for all connections and starts the workers.
  Status run();
  // Stops accepting and lets requests that have begun end within stop_grace; then run() returns. May be called from any
  // thread, and more than once.
  void stop();

  // Sets the certificate for new connections after the coordinator's own has been renewed. May be called from any
  // thread.
  void use_tls(const crypto::TlsContext& tls);
  [[nodiscard]] std::uint16_t port() const;
  [[nodiscard]] GateStats stats() const;

 private:
  struct Parts;
  explicit Gate(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace starling::gate
