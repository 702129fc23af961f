// Where something lies on a web server: https://host[:port]/path. Other schemes, user names, and hosts that are neither
// names nor IPv4 addresses are refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "shared/base/result.h"

namespace starling::wire {

struct WebAddress {
  std::string host;
  std::uint16_t port = 443;
  std::string path;  // begins with a slash
};

// invalid_argument, with what is wrong with it.
Result<WebAddress> parse_web_address(std::string_view address);

}  // namespace starling::wire
