// Tells why a TCP stream loses packets: because the line is full, or without such a cause. Loss-based congestion
// control slows down in both cases, and one such stream then leaves most of the line unused, where several would not.
// On a full line packets wait before they are lost, so round trips have become longer. Pure.
#pragma once

#include "client/transport/tcp_counters.h"
#include "shared/base/clock.h"

namespace starling::transport {

class LossWatch {
 public:
  // A stream nearer than this makes up for a loss so quickly that several are no better.
  static constexpr Duration kRoundTripMin = std::chrono::milliseconds(4);

  enum class Finding : std::uint8_t {
    nothing,
    line_full,  // packets were lost on a full line
    held_back,  // packets were lost on a line with room, by a stream that sends as much as its window allows
  };
  // Call it several times a second. `backlogged`: there is more to send than the stream takes. `tick`: the interval of
  // ticks; each tick's data may wait for that of the one before without the line being full. 0: no ticks.
  Finding note(const TcpCounters& counters, bool backlogged, Duration tick = {});

 private:
  std::int64_t sent_again_ = 0;
  bool held_back_ = false;  // by its window, when last looked at
};

}  // namespace starling::transport
