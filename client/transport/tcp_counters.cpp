#include "client/transport/tcp_counters.h"

// The kernel's own header, as the C library's stops short of these counters; the two cannot be included together.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace starling::transport {

TcpCounters tcp_counters(int fd) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return {};
  return {static_cast<std::int64_t>(info.tcpi_bytes_acked), static_cast<std::int64_t>(info.tcpi_bytes_sent),
          static_cast<std::int64_t>(info.tcpi_bytes_received)};
}

}  // namespace starling::transport
