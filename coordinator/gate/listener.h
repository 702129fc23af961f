// Accepts connections and survives every failure of accept(): a failure costs a pause, never the service.
#pragma once

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "coordinator/gate/address.h"
#include "shared/base/result.h"

namespace starling::gate {

class Listener {
 public:
  // Receives the new socket, which is non-blocking, and must close it.
  using Accepted = std::function<void(int fd, const Address& from)>;

  // `failures` counts failed calls of accept(); it must outlive the listener.
  Listener(asio::io_context& io, std::atomic<std::int64_t>& failures);

  Status open(const std::string& address, std::uint16_t port);
  void start(Accepted accepted);
  void stop();
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  void wait();
  void accept_some();
  void pause(int error);

  asio::posix::stream_descriptor socket_;
  asio::steady_timer timer_;
  std::atomic<std::int64_t>& failures_;
  Accepted accepted_;
  std::uint16_t port_ = 0;
  int last_error_ = 0;  // already logged
};

}  // namespace starling::gate
