#include "client/transport/tcp_counters.h"

// The kernel's own header, because the C library's stops short of these counters; the two cannot be included together.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace starling::transport {

TcpCounters tcp_counters(int fd) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return {};
  const auto acknowledged = static_cast<std::int64_t>(info.tcpi_bytes_acked);
  return {.bytes_acknowledged = acknowledged,
          .bytes_delivered = acknowledged + static_cast<std::int64_t>(info.tcpi_sacked) * info.tcpi_snd_mss,
          .bytes_sent = static_cast<std::int64_t>(info.tcpi_bytes_sent),
          .bytes_received = static_cast<std::int64_t>(info.tcpi_bytes_received),
          .packets_sent = info.tcpi_segs_out,
          .packets_received = info.tcpi_segs_in,
          .packets_sent_again = static_cast<std::int64_t>(info.tcpi_total_retrans),
          .packets_behind_gap = static_cast<std::int64_t>(info.tcpi_rcv_ooopack),
          .packets_in_flight = static_cast<int>(info.tcpi_unacked),
          .window_packets = static_cast<int>(info.tcpi_snd_cwnd),
          .round_trip = std::chrono::microseconds(info.tcpi_rtt),
          .round_trip_least = std::chrono::microseconds(info.tcpi_min_rtt),
          .pace_bytes_per_s = static_cast<double>(info.tcpi_pacing_rate)};
}

}  // namespace starling::transport
