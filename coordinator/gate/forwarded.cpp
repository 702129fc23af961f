#include "coordinator/gate/forwarded.h"

#include <algorithm>
#include <string_view>

#include "coordinator/gate/address.h"
#include "coordinator/gate/text.h"

namespace starling::gate {
namespace {

bool holds(std::span<const std::string> proxies, const std::string& address) {
  return std::find(proxies.begin(), proxies.end(), address) != proxies.end();
}

// All notes of proxies in one line: repeated headers follow one another.
std::string noted(const Headers& headers) {
  std::string all;
  for (const auto& [name, value] : headers) {
    if (equal_without_case(name, "X-Forwarded-For")) all += (all.empty() ? "" : ",") + value;
  }
  return all;
}

// The address in an entry, without blanks and quotes around it, brackets, and a port.
std::string address_in(std::string_view entry) {
  constexpr std::string_view kAround = " \t\"";
  const std::size_t first = entry.find_first_not_of(kAround);
  if (first == std::string_view::npos) return "";
  entry = entry.substr(first, entry.find_last_not_of(kAround) - first + 1);
  if (entry.front() == '[') return std::string(entry.substr(1, entry.find(']') - 1));
  const bool has_port = std::count(entry.begin(), entry.end(), ':') == 1;  // in brackets where the address has colons
  return std::string(has_port ? entry.substr(0, entry.find(':')) : entry);
}

}  // namespace

ForwardedCaller caller_of(const std::string& socket_address, const Headers& headers,
                          std::span<const std::string> proxies) {
  ForwardedCaller caller{socket_address, {}};
  std::string left = noted(headers);
  while (holds(proxies, caller.address) && !left.empty()) {
    const std::size_t comma = left.rfind(',');
    const std::string last = comma == std::string::npos ? left : left.substr(comma + 1);
    left.resize(comma == std::string::npos ? 0 : comma);
    const auto parsed = parse_address(address_in(last), 0);
    if (!parsed) {
      caller.unreadable = last;
      return caller;
    }
    caller.address = address_of(parsed->storage).text;
  }
  return caller;
}

}  // namespace starling::gate
