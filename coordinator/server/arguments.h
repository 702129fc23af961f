// Converts texts of the command line into values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "shared/base/calendar.h"
#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/net/http_client.h"

namespace starling::server {

// "host:port" or "[v6]:port".
Result<net::Endpoint> parse_endpoint(std::string_view text);
std::string format_endpoint(const net::Endpoint& endpoint);
// "30s", "12h", "7d", "2w": a whole number above 0 and a unit of s, m, h, d or w.
Result<Duration> parse_duration(std::string_view text);
// "3-17" or "5", both ends included; an empty text means everything.
struct RoundRange {
  std::int64_t first = 0;
  std::int64_t last = INT64_MAX;
};
Result<RoundRange> parse_rounds(std::string_view text);
// "18:30" today or "2024-06-10 18:30", both in this machine's time zone; or a duration from `now` on.
Result<WallTime> parse_time(std::string_view text, WallTime now);
// "0.0.0.0" or "::", which nobody can dial.
bool is_wildcard(std::string_view host);

}  // namespace starling::server
