#include "client/transport/congestion_control.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <utility>

namespace starling::transport {
namespace {

// A line that loses more than this part of its packets keeps bbr.
constexpr double kLossMax = 0.0003;
constexpr double kPacketBytes = 1448;

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

bool WhilePaced::begin(const TcpCounters& now) {
  const double packets = static_cast<double>(now.bytes_sent - began_at_.bytes_sent) / kPacketBytes;
  const auto lost = static_cast<double>(now.packets_sent_again - began_at_.packets_sent_again);
  began_at_ = now;
  goes_without_ = lost <= kLossMax * packets;
  return goes_without_;
}

bool WhilePaced::note(const TcpCounters& now) { return now.packets_sent_again > began_at_.packets_sent_again && end(); }

bool WhilePaced::end() { return std::exchange(goes_without_, false); }

}  // namespace starling::transport
