#include "coordinator/server/arguments.h"

#include <fmt/core.h>

#include <charconv>
#include <ctime>
#include <utility>

#include "shared/wire/web_address.h"

namespace starling::server {
namespace {

template <typename Integer>
bool parse_whole(std::string_view text, Integer& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

constexpr std::int64_t kDurationSecondsMax = std::int64_t{10} * 366 * 24 * 3600;

}  // namespace

Result<net::Endpoint> parse_endpoint(std::string_view text) {
  auto at = wire::parse_host_and_port(text);
  if (at) return net::Endpoint{std::move(at->host), at->port};
  return Error{ErrorCode::invalid_argument,
               fmt::format("'{}' is no address ({}); write HOST:PORT, such as 203.0.113.7:7300 or [2001:db8::7]:7300",
                           text, at.error().message)};
}

std::string format_endpoint(const net::Endpoint& endpoint) {
  return wire::format_host_and_port(endpoint.host, endpoint.port);
}

Result<Duration> parse_duration(std::string_view text) {
  const Error wrong{ErrorCode::invalid_argument,
                    fmt::format("'{}' is no duration; write a number and s, m, h, d or w, such as 7d", text)};
  if (text.size() < 2) return wrong;
  std::int64_t count = 0;
  if (!parse_whole(text.substr(0, text.size() - 1), count) || count <= 0) return wrong;
  std::int64_t unit = 0;
  switch (text.back()) {
    case 's':
      unit = 1;
      break;
    case 'm':
      unit = 60;
      break;
    case 'h':
      unit = 3600;
      break;
    case 'd':
      unit = 24 * 3600;
      break;
    case 'w':
      unit = 7 * 24 * 3600;
      break;
    default:
      return wrong;
  }
  if (count > kDurationSecondsMax / unit) return wrong;
  return Duration(std::chrono::seconds(count * unit));
}

Result<RoundRange> parse_rounds(std::string_view text) {
  RoundRange range;
  if (text.empty()) return range;
  const std::size_t dash = text.find('-');
  const std::string_view last = dash == std::string_view::npos ? text : text.substr(dash + 1);
  if (parse_whole(text.substr(0, dash), range.first) && parse_whole(last, range.last) && range.first >= 0 &&
      range.first <= range.last) {
    return range;
  }
  return Error{ErrorCode::invalid_argument,
               fmt::format("'{}' are no rounds; write the first and the last, such as 120-180", text)};
}

Result<WallTime> parse_time(std::string_view text, WallTime now) {
  if (const auto from_now = parse_duration(text)) return WallTime{now.unix_ms + to_ms(*from_now)};
  const std::time_t seconds = now.unix_ms / 1000;
  std::tm parts = {};
  ::localtime_r(&seconds, &parts);
  parts.tm_sec = 0;
  parts.tm_isdst = -1;
  const std::string written(text);
  const bool is_clocks = text.size() <= 5;
  const char* end = ::strptime(written.c_str(), is_clocks ? "%H:%M" : "%Y-%m-%d %H:%M", &parts);
  std::tm known = parts;  // mktime() makes 3 March of 31 February
  std::time_t time = end != nullptr && *end == '\0' ? std::mktime(&known) : -1;
  if (time < 0 || known.tm_mday != parts.tm_mday || known.tm_mon != parts.tm_mon) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("'{}' is no time; write 18:30, '2024-06-10 18:30', or how long from now: 2h", text)};
  }
  if (is_clocks && time * 1000 <= now.unix_ms) {
    ++parts.tm_mday;
    time = std::mktime(&parts);
  }
  return WallTime{std::int64_t{time} * 1000};
}

bool is_wildcard(std::string_view host) { return host == "0.0.0.0" || host == "::"; }

}  // namespace starling::server
