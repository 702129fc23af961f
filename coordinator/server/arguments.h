// Texts of the command line as values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "shared/base/calendar.h"
#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/net/http_client.h"

namespace starling::server {

// "host:port", "[v6]:port".
Result<net::Endpoint> parse_endpoint(std::string_view text);
std::string format_endpoint(const net::Endpoint& endpoint);
// "30s", "12h", "7d", "2w": a whole number above 0 and a unit of s, m, h, d or w.
Result<Duration> parse_duration(std::string_view text);
// "3-17" or "5", both ends included; empty is everything.
struct RoundRange {
  std::int64_t first = 0;
  std::int64_t last = INT64_MAX;
};
Result<RoundRange> parse_rounds(std::string_view text);
// "18:30" of today, "2024-06-10 18:30", both where this machine is; or a duration from `now` on.
Result<WallTime> parse_time(std::string_view text, WallTime now);
// "0.0.0.0" or "::": nothing that could be dialled.
bool is_wildcard(std::string_view host);

}  // namespace starling::server
