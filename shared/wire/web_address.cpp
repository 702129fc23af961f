#include "shared/wire/web_address.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>

#include "shared/base/host_name.h"

namespace starling::wire {
namespace {

constexpr std::string_view kScheme = "https://";

Error bad(std::string_view why) { return {ErrorCode::invalid_argument, std::string(why)}; }

bool is_visible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

bool is_ipv6(const std::string& host) {
  in6_addr address{};
  return host.find('\0') == std::string::npos && ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

// The host at the front of `text`, which is left with what follows it.
Result<std::string> take_host(std::string_view& text) {
  if (!text.starts_with('[')) {
    std::string host(text.substr(0, text.find(':')));
    if (!is_host_name(host)) return bad("the host is no name or address");
    text.remove_prefix(host.size());
    return host;
  }
  const std::size_t end = text.find(']');
  if (end == std::string_view::npos) return bad("no bracket and port follow the address");
  std::string host(text.substr(1, end - 1));
  if (!is_ipv6(host)) return bad("the address in brackets is no IPv6 address");
  text.remove_prefix(end + 1);
  return host;
}

// Reads a port with its colon: ":7700".
Result<std::uint16_t> read_port(std::string_view text) {
  if (text.empty()) return bad("the port is missing");
  std::uint16_t port = 0;
  const char* const last = text.data() + text.size();
  const auto [end, problem] = std::from_chars(text.data() + 1, last, port);
  if (text.front() != ':' || problem != std::errc() || end != last || text[1] == '0') {
    return bad("the port is no number from 1 to 65535");
  }
  return port;
}

}  // namespace

Result<HostPort> parse_host_and_port(std::string_view text) {
  HostPort out;
  STARLING_ASSIGN(out.host, take_host(text));
  STARLING_ASSIGN(out.port, read_port(text));
  return out;
}

std::string format_host_and_port(std::string_view host, int port) {
  const bool bracketed = host.find(':') != std::string_view::npos;
  return fmt::format("{}{}{}:{}", bracketed ? "[" : "", host, bracketed ? "]" : "", port);
}

Result<WebAddress> parse_web_address(std::string_view address) {
  if (!address.starts_with(kScheme)) return bad("it does not begin with https://");
  if (!is_visible(address)) return bad("it has characters that no address has");
  address.remove_prefix(kScheme.size());
  const std::size_t slash = address.find('/');
  if (slash == std::string_view::npos) return bad("it has no path behind the host");
  std::string_view authority = address.substr(0, slash);
  WebAddress out;
  out.path = address.substr(slash);
  STARLING_ASSIGN(out.host, take_host(authority));
  if (authority.empty()) return out;
  STARLING_ASSIGN(out.port, read_port(authority));
  return out;
}

}  // namespace starling::wire
