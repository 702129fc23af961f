#include "client/transport/congestion_control.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>

namespace starling::transport {

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

}  // namespace starling::transport
