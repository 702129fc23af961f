// The address of a service: host:port, as people write it, and https://host[:port]/path. A host is a name, an IPv4
// address, or an IPv6 address, which stands in brackets: "example.org:7700", "192.0.2.7:7700", "[2001:db8::7]:7700".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "shared/base/result.h"

namespace starling::wire {

// The parts of an address; the host has not been looked up.
struct HostPort {
  std::string host;  // an IPv6 address without its brackets
  std::uint16_t port = 0;
};

// Returns invalid_argument with the reason. Ports begin at 1 and with another digit than 0.
Result<HostPort> parse_host_and_port(std::string_view text);
// Returns the text that parse_host_and_port reads.
std::string format_host_and_port(std::string_view host, int port);

struct WebAddress {
  std::string host;  // an IPv6 address without its brackets
  std::uint16_t port = 443;
  std::string path;  // begins with a slash
};

// Returns invalid_argument with the reason. Other schemes and user names are refused.
Result<WebAddress> parse_web_address(std::string_view address);

}  // namespace starling::wire
