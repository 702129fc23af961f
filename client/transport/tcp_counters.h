// What the kernel counted on a TCP connection.
#pragma once

#include <cstdint>

#include "shared/base/clock.h"

namespace starling::transport {

struct TcpCounters {
  std::int64_t bytes_acknowledged = 0;  // sent, and known to have arrived
  std::int64_t bytes_delivered = 0;     // the same, and what has arrived behind a gap, as whole packets of today's size
  std::int64_t bytes_sent = 0;          // handed to the network, again or for the first time
  std::int64_t bytes_received = 0;      // whether they have been read or not
  std::int64_t packets_sent = 0;        // and received: acknowledgements and repeats, too
  std::int64_t packets_received = 0;
  std::int64_t packets_sent_again = 0;
  std::int64_t packets_behind_gap = 0;  // received while something before them was missing
  // As things are now.
  int packets_in_flight = 0;
  int window_packets = 0;  // that may be in flight, as congestion control has it
  Duration round_trip{};   // smoothed
  Duration round_trip_least{};
  double pace_bytes_per_s = 0;  // at which the kernel sends, or would
};

// Zeros for what is no TCP connection.
TcpCounters tcp_counters(int fd);

}  // namespace starling::transport
