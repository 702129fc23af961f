// Whom a request behind a proxy comes from.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace starling::gate {

// Headers as received, in order.
using Headers = std::vector<std::pair<std::string, std::string>>;

// The address that a request counts as coming from. That is the socket's own, unless it is one of `proxies`: then the
// last address of X-Forwarded-For that is none of them, which is what the nearest of them has seen; what stands before
// it, anybody may have written. Addresses are texts as address_of() writes them.
std::string caller_of(const std::string& socket_address, const Headers& headers, std::span<const std::string> proxies);

}  // namespace starling::gate
