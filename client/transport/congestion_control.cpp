#include "client/transport/congestion_control.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>

namespace starling::transport {
namespace {

// A congestion control that every system has.
constexpr const char* kOtherCongestionControl = "reno";
constexpr double kPacketBytes = 1448;
// Number of windows per round trip at which bbr begins.
constexpr double kBeginsWith = 2.885;
// The least factor by which the pace has to rise to be worth a restart.
constexpr double kWorth = 1.2;
// Packets in the window while bbr looks for the shortest round trip, or has lost everything on its way. Both states end
// by themselves.
constexpr int kNarrow = 4;
// Often enough that bbr never gets to look for the shortest round trip.
constexpr Duration kRenewEvery = std::chrono::seconds(5);

}  // namespace

void set_congestion_control(int fd, const std::string& name) {
  if (!name.empty()) ::setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name.data(), static_cast<socklen_t>(name.size()));
}

void begin_congestion_control(int fd, const std::string& wanted) {
  if (!wanted.empty()) set_congestion_control(fd, kPlainCongestionControl);
}

std::string congestion_control_of(int fd) {
  std::array<char, 16> name{};  // TCP_CA_NAME_MAX
  socklen_t size = name.size() - 1;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name.data(), &size) != 0) return {};
  return name.data();
}

bool is_loss_based(int fd) {
  const std::string name = congestion_control_of(fd);
  return !name.empty() && !name.starts_with("bbr");
}

void begin_anew(int fd, const std::string& name) {
  set_congestion_control(fd, kOtherCongestionControl);
  set_congestion_control(fd, name);
}

bool WhilePaced::renews(TimePoint now, const TcpCounters& counters) {
  if (counters.window_packets <= kNarrow) return false;
  const double window = kPacketBytes * counters.window_packets;
  const double would = kBeginsWith * window;  // bytes in a round trip, right after a restart
  const bool slow = would > kWorth * counters.pace_bytes_per_s * to_seconds(counters.round_trip);
  if (!slow && renewed_at_ && now - *renewed_at_ < kRenewEvery) return false;
  renewed_at_ = now;
  return true;
}

}  // namespace starling::transport
