// The kernel's counters of a TCP connection.
#pragma once

#include <cstdint>

#include "shared/base/clock.h"

namespace starling::transport {

struct TcpCounters {
  std::int64_t bytes_acknowledged = 0;  // sent, and known to have arrived
  std::int64_t bytes_delivered = 0;     // acknowledged, or arrived behind a gap (counted in whole present-size packets)
  std::int64_t bytes_sent = 0;          // handed to the network, again or for the first time
  std::int64_t bytes_received = 0;      // read or not
  std::int64_t packets_sent = 0;        // both packet counts include acknowledgements and repeats
  std::int64_t packets_received = 0;
  std::int64_t packets_sent_again = 0;
  std::int64_t packets_behind_gap = 0;  // received while something before them was missing
  // Present values.
  int packets_in_flight = 0;
  int window_packets = 0;  // limit of packets in flight set by congestion control
  Duration round_trip{};   // smoothed
  Duration round_trip_least{};
  double pace_bytes_per_s = 0;  // speed at which the kernel sends, or would
};

// Zeros for anything but a TCP connection.
TcpCounters tcp_counters(int fd);

}  // namespace starling::transport
