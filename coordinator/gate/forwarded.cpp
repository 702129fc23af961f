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

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

}  // namespace

std::string caller_of(const std::string& socket_address, const Headers& headers, std::span<const std::string> proxies) {
  std::string caller = socket_address;
  std::string left = noted(headers);
  while (holds(proxies, caller) && !left.empty()) {
    const std::size_t comma = left.rfind(',');
    const std::string last = trimmed(comma == std::string::npos ? left : left.substr(comma + 1));
    left.resize(comma == std::string::npos ? 0 : comma);
    const auto parsed = parse_address(last, 0);
    if (!parsed) return caller;  // a proxy that notes no address: its own is all that is known
    caller = address_of(parsed->storage).text;
  }
  return caller;
}

}  // namespace starling::gate
