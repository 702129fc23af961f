// The bytes that TCP has moved over one stream, as the kernel counts them: it counts on while this process does
// something else, so its numbers say more about the line than ours.
#pragma once

#include <cstdint>

#include "client/transport/loss_watch.h"
#include "client/transport/tcp_counters.h"
#include "shared/base/clock.h"
#include "shared/net/line.h"

namespace starling::transport {

class StreamMeter {
 public:
  // Moved since the call before.
  struct Reading {
    TcpCounters moved;  // byte and packet counts; no present values
    net::WireBytes on_wire;
    Duration time{};
    LossWatch::Finding finding = LossWatch::Finding::nothing;
  };

  // The socket is connected, and has its congestion control.
  void begin(int fd);
  // Whether lost packets slow the stream down.
  [[nodiscard]] bool loss_based() const { return loss_based_; }
  // `backlogged`, `tick`: see LossWatch.
  Reading read(TimePoint now, int fd, bool backlogged, Duration tick);
  // The counters at the last read().
  [[nodiscard]] const TcpCounters& counted() const { return counted_; }
  // Counters that are at most some milliseconds old.
  [[nodiscard]] TcpCounters recent(TimePoint now, int fd) const;

 private:
  LossWatch losses_;
  bool loss_based_ = false;
  std::int64_t header_bytes_ = 0;  // header bytes of each packet
  TcpCounters counted_;
  net::WireBytes counted_on_wire_;
  TimePoint counted_at_{};
};

}  // namespace starling::transport
