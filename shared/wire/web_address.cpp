#include "shared/wire/web_address.h"

#include <algorithm>
#include <charconv>

namespace starling::wire {
namespace {

constexpr std::size_t kHostBytesMax = 253;
constexpr std::string_view kScheme = "https://";

Error bad(std::string_view why) { return {ErrorCode::invalid_argument, std::string(why)}; }

bool is_visible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

bool is_host(std::string_view host) {
  constexpr std::string_view kHostCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-.";
  return !host.empty() && host.size() <= kHostBytesMax &&
         host.find_first_not_of(kHostCharacters) == std::string_view::npos;
}

}  // namespace

Result<WebAddress> parse_web_address(std::string_view address) {
  if (!address.starts_with(kScheme)) return bad("it does not begin with https://");
  if (!is_visible(address)) return bad("it has characters that no address has");
  address.remove_prefix(kScheme.size());
  const std::size_t slash = address.find('/');
  if (slash == std::string_view::npos) return bad("it has no path behind the host");
  const std::string_view authority = address.substr(0, slash);
  const std::size_t colon = authority.find(':');
  WebAddress out;
  out.host = authority.substr(0, colon);
  out.path = address.substr(slash);
  if (!is_host(out.host)) return bad("the host is no name or IPv4 address");
  if (colon == std::string_view::npos) return out;
  const std::string_view port = authority.substr(colon + 1);
  const auto [end, problem] = std::from_chars(port.data(), port.data() + port.size(), out.port);
  if (problem == std::errc() && end == port.data() + port.size() && out.port != 0) return out;
  return bad("the port is no number from 1 to 65535");
}

}  // namespace starling::wire
