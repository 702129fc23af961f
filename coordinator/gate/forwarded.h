// The client's address for a request that came through a proxy.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace starling::gate {

// Headers as received, in order.
using Headers = std::vector<std::pair<std::string, std::string>>;

// The address that a request is taken to come from: the socket's own, unless that is one of `proxies`. Then it is the
// last address of X-Forwarded-For that is not a proxy's, which is the one that the outermost proxy saw; the entries
// before it may be forged by anybody. Addresses are texts as address_of() writes them.
struct ForwardedCaller {
  std::string address;
  std::string unreadable;  // an entry that a proxy wrote and that is no address: the proxy's own is all that is known
};
ForwardedCaller caller_of(const std::string& socket_address, const Headers& headers,
                          std::span<const std::string> proxies);

}  // namespace starling::gate
