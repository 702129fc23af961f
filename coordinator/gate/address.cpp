#include "coordinator/gate/address.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

namespace starling::gate {
namespace {

constexpr std::uint8_t kLoopbackNet = 127;

Address from_ipv4(const in_addr& ip) {
  Address address;
  char text[INET_ADDRSTRLEN] = "";
  ::inet_ntop(AF_INET, &ip, text, sizeof text);
  address.text = text;
  address.unit[10] = address.unit[11] = 0xff;
  std::memcpy(&address.unit[12], &ip, sizeof ip);
  address.loopback = address.unit[12] == kLoopbackNet;
  return address;
}

Address from_ipv6(const in6_addr& ip) {
  if (IN6_IS_ADDR_V4MAPPED(&ip)) {
    in_addr inner{};
    std::memcpy(&inner, &ip.s6_addr[12], sizeof inner);
    return from_ipv4(inner);
  }
  Address address;
  char text[INET6_ADDRSTRLEN] = "";
  ::inet_ntop(AF_INET6, &ip, text, sizeof text);
  address.text = text;
  std::copy_n(ip.s6_addr, 8, address.unit.begin());
  address.loopback = IN6_IS_ADDR_LOOPBACK(&ip);
  return address;
}

}  // namespace

Address address_of(const sockaddr_storage& socket_address) {
  if (socket_address.ss_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &socket_address, sizeof v6);
    return from_ipv6(v6.sin6_addr);
  }
  sockaddr_in v4{};
  std::memcpy(&v4, &socket_address, sizeof v4);
  return from_ipv4(v4.sin_addr);
}

Result<SocketAddress> parse_address(const std::string& literal, std::uint16_t port) {
  SocketAddress address;
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  if (::inet_pton(AF_INET, literal.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    std::memcpy(&address.storage, &v4, sizeof v4);
    address.length = sizeof v4;
  } else if (::inet_pton(AF_INET6, literal.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    std::memcpy(&address.storage, &v6, sizeof v6);
    address.length = sizeof v6;
  } else {
    return Error{
        ErrorCode::invalid_argument,
        fmt::format("listen on '{}': that is not an IP address; use 0.0.0.0 or :: for all of this machine", literal)};
  }
  return address;
}

}  // namespace starling::gate
