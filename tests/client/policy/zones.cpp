#include "tests/client/policy/zones.h"

#include <chrono>
#include <cstdlib>

namespace starling::policy {

WallTime utc(int year, unsigned month, unsigned day, int hour, int minute) {
  const std::chrono::sys_days date(std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(day));
  const std::int64_t minutes = (date.time_since_epoch().count() * 24LL + hour) * 60 + minute;
  return {minutes * 60'000};
}

UtcOffset central_europe() {
  return [](std::int64_t s) {
    const bool summer = s >= utc(2026, 3, 29, 1).unix_ms / 1000 && s < utc(2026, 10, 25, 1).unix_ms / 1000;
    return std::int64_t{summer ? 7200 : 3600};
  };
}

UtcOffset lord_howe() {
  return [](std::int64_t s) {
    // Winter from 4 April 15:00 UTC to 3 October 15:30 UTC.
    const bool winter = s >= utc(2026, 4, 4, 15).unix_ms / 1000 && s < utc(2026, 10, 3, 15, 30).unix_ms / 1000;
    return std::int64_t{winter ? 37'800 : 39'600};
  };
}

LibraryZone::LibraryZone(const char* posix_rule) {
  if (const char* before = std::getenv("TZ"); before != nullptr) {
    before_ = before;
    was_set_ = true;
  }
  ::setenv("TZ", posix_rule, 1);
  ::tzset();
}

LibraryZone::~LibraryZone() {
  if (was_set_) {
    ::setenv("TZ", before_.c_str(), 1);
  } else {
    ::unsetenv("TZ");
  }
  ::tzset();
}

std::tm LibraryZone::local(WallTime when) {
  const std::time_t seconds = when.unix_ms / 1000;
  std::tm out{};
  ::localtime_r(&seconds, &out);
  return out;
}

UtcOffset LibraryZone::offset() {
  return [](std::int64_t s) { return static_cast<std::int64_t>(local({s * 1000}).tm_gmtoff); };
}

}  // namespace starling::policy
