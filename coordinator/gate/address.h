// Socket addresses, as text and as the unit that limits count.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <string>

#include "shared/base/result.h"

namespace starling::gate {

struct Address {
  std::string text;                     // "192.0.2.7", "2001:db8::1"
  std::array<std::uint8_t, 16> unit{};  // one IPv4 address (mapped), or one IPv6 /64
  bool loopback = false;
};

// An IPv4-mapped IPv6 address becomes an IPv4 address.
Address address_of(const sockaddr_storage& socket_address);

// Parses an IP literal. Error invalid_argument for any other text.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
};
Result<SocketAddress> parse_address(const std::string& literal, std::uint16_t port);

}  // namespace starling::gate
