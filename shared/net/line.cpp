#include "shared/net/line.h"

// The kernel's own header: the C library's lacks these counters, and the two cannot be included together.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>

namespace starling::net {
namespace {

constexpr Duration kTurnTime = std::chrono::milliseconds(20);
constexpr double kTurnBytesMin = 4 * 1024;
constexpr double kTurnBytesMax = 64 * 1024;

constexpr Duration kWindowTime = std::chrono::milliseconds(200);
constexpr double kWindowMin = 16 * 1024;
constexpr double kWindowMax = 64 * 1024 * 1024;

// Headers of Ethernet, IPv4, and TCP with time stamps; IPv6 is longer.
constexpr std::int64_t kHeaders = 14 + 20 + 20 + 12;
constexpr std::int64_t kIpv6Longer = 20;
// Larger payloads occur only within houses and computers, and are seldom full there.
constexpr std::int64_t kPayloadMax = 1460;

// All zeros if `fd` is no TCP connection.
tcp_info tcp_info_of(int fd) {
  tcp_info info{};
  socklen_t size = sizeof info;
  return ::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 ? info : tcp_info{};
}

}  // namespace

void LineBudget::set_rate(TimePoint now, double bytes_per_s) {
  const MutexLock lock(mutex_);
  if (bytes_per_s == rate_) return;
  const double owed = rate_ > 0 ? std::max(0.0, to_seconds(free_at_ - now)) * rate_ : 0;
  rate_ = bytes_per_s;
  free_at_ = now + (rate_ > 0 ? from_seconds(owed / rate_) : Duration::zero());
}

double LineBudget::bytes_per_s() const {
  const MutexLock lock(mutex_);
  return rate_;
}

double LineBudget::turn_bytes() const {
  const MutexLock lock(mutex_);
  return rate_ > 0 ? std::clamp(rate_ * to_seconds(kTurnTime), kTurnBytesMin, kTurnBytesMax) : 0;
}

TimePoint LineBudget::reserve(TimePoint now, double bytes) {
  const MutexLock lock(mutex_);
  if (rate_ <= 0) return now;
  const TimePoint due = std::max(free_at_, now - kBurst);
  free_at_ = due + from_seconds(bytes / rate_);
  return std::max(due, now);
}

void LineBudget::take(TimePoint now, double bytes) {
  const MutexLock lock(mutex_);
  if (rate_ > 0) free_at_ = std::max(free_at_, now - kBurst) + from_seconds(bytes / rate_);
}

std::int64_t header_bytes(int fd) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0 || peer.ss_family != AF_INET6) return kHeaders;
  const in6_addr& address = reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr;
  return IN6_IS_ADDR_V4MAPPED(&address) ? kHeaders : kHeaders + kIpv6Longer;
}

WireBytes wire_bytes(int fd) {
  const tcp_info info = tcp_info_of(fd);
  const std::int64_t headers = header_bytes(fd);
  return {static_cast<std::int64_t>(info.tcpi_bytes_sent) + headers * info.tcpi_segs_out,
          static_cast<std::int64_t>(info.tcpi_bytes_received) + headers * info.tcpi_segs_in};
}

std::int64_t repeated_bytes(int fd) {
  const tcp_info info = tcp_info_of(fd);
  const std::int64_t full = info.tcpi_data_segs_in * std::min<std::int64_t>(info.tcpi_rcv_mss, kPayloadMax);
  return std::max<std::int64_t>(0, full - static_cast<std::int64_t>(info.tcpi_bytes_received));
}

// Clamps the window, not the receive buffer: unread bytes fill the buffer, and the kernel drops packets that do not fit
// into a smaller one, even those it has allowed the sender to send.
void limit_window(int fd, double bytes_per_s) {
  const double window =
      bytes_per_s > 0 ? std::clamp(bytes_per_s * to_seconds(kWindowTime), kWindowMin, kWindowMax) : kWindowMax;
  const int bytes = static_cast<int>(window);
  ::setsockopt(fd, IPPROTO_TCP, TCP_WINDOW_CLAMP, &bytes, sizeof bytes);
}

}  // namespace starling::net
