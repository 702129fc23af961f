#include "client/policy/calendar.h"

#include <fmt/core.h>

#include <array>
#include <charconv>

namespace starling::policy {
namespace {

namespace chrono = std::chrono;

constexpr std::int64_t kMsPerS = 1000;
constexpr std::int64_t kHourS = 3600;
constexpr std::int64_t kDayS = 24 * kHourS;
constexpr std::int64_t kStepS = 15 * 60;
constexpr std::int64_t kLookAheadS = 9 * kDayS;
constexpr std::int64_t kEpochHour = 3 * wire::kDayHours;  // 1970-01-01 was a Thursday
constexpr std::int64_t kMorningS = 6 * kHourS;
constexpr std::int64_t kSnoozeMaxS = 365 * kDayS;

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

std::int64_t seconds_of(WallTime when) { return floor_div(when.unix_ms, kMsPerS); }

std::int64_t local_seconds(WallTime when, const UtcOffset& offset) {
  const std::int64_t s = seconds_of(when);
  return s + offset(s);
}

chrono::sys_days day_of(std::int64_t local_s) { return chrono::sys_days(chrono::days(floor_div(local_s, kDayS))); }

// The moment at which clocks show that local time: the earlier of two, or, where the time is skipped, the moment after.
WallTime moment_of(std::int64_t local_s, const UtcOffset& offset) {
  const std::int64_t before = local_s - offset(local_s - kDayS);
  const std::int64_t after = local_s - offset(local_s + kDayS);
  if (before + offset(before) == local_s && after + offset(after) == local_s) {
    return {std::min(before, after) * kMsPerS};
  }
  return {(after + offset(after) == local_s ? after : before) * kMsPerS};
}

WallTime midnight(chrono::year_month_day date, const UtcOffset& offset) {
  return moment_of(chrono::sys_days(date).time_since_epoch().count() * kDayS, offset);
}

std::string clock_text(std::int64_t local_s) {
  const std::int64_t minutes = floor_div(local_s, 60) - floor_div(local_s, kDayS) * (kDayS / 60);
  return fmt::format("{}:{:02}", minutes / 60, minutes % 60);
}

}  // namespace

int hour_of_week(WallTime when, const UtcOffset& offset) {
  const std::int64_t hours = floor_div(local_seconds(when, offset), kHourS) + kEpochHour;
  return static_cast<int>(hours - floor_div(hours, wire::kWeekHours) * wire::kWeekHours);
}

std::optional<WallTime> next_change(const wire::WeekHours& hours, WallTime now, const UtcOffset& offset) {
  const bool allowed = hours[hour_of_week(now, offset)];
  const std::int64_t first = (floor_div(seconds_of(now), kStepS) + 1) * kStepS;
  for (std::int64_t s = first; s <= first + kLookAheadS; s += kStepS) {
    const WallTime when{s * kMsPerS};
    if (hours[hour_of_week(when, offset)] != allowed) return when;
  }
  return std::nullopt;
}

Month month_around(WallTime now, int first_day, const UtcOffset& offset) {
  const chrono::year_month_day today(day_of(local_seconds(now, offset)));
  const chrono::day day(static_cast<unsigned>(first_day));
  chrono::year_month_day begin = today.year() / today.month() / day;
  if (midnight(begin, offset) > now) begin -= chrono::months(1);
  return {midnight(begin, offset), midnight(begin + chrono::months(1), offset)};
}

Result<WallTime> end_of_snooze(std::string_view length, WallTime now, const UtcOffset& offset) {
  if (length == "tomorrow") {
    const chrono::sys_days tomorrow = day_of(local_seconds(now, offset)) + chrono::days(1);
    return moment_of(tomorrow.time_since_epoch().count() * kDayS + kMorningS, offset);
  }
  std::int64_t count = 0;
  const auto [end, problem] = std::from_chars(length.data(), length.data() + length.size(), count);
  const std::string_view unit(end, static_cast<std::size_t>(length.data() + length.size() - end));
  const std::int64_t unit_s = unit == "m" ? 60 : unit == "h" ? kHourS : unit == "d" ? kDayS : 0;
  if (problem != std::errc() || unit_s == 0 || count < 1 || count > kSnoozeMaxS / unit_s) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("'{}' is no length of time: write 15m, 1h, 3h, 2d (at most a year), or tomorrow; without "
                             "one, `starling pause` lasts until you resume",
                             length)};
  }
  return WallTime{now.unix_ms + count * unit_s * kMsPerS};
}

std::string moment_text(WallTime when, WallTime now, const UtcOffset& offset) {
  constexpr std::array kDays = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
  constexpr std::array kMonths = {"January", "February", "March",     "April",   "May",      "June",
                                  "July",    "August",   "September", "October", "November", "December"};
  const std::int64_t local = local_seconds(when, offset);
  const chrono::sys_days day = day_of(local);
  const std::int64_t days_ahead = (day - day_of(local_seconds(now, offset))).count();
  if (days_ahead == 0) return clock_text(local);
  if (days_ahead > 0 && days_ahead < 7) {
    return fmt::format("{} {}", kDays[chrono::weekday(day).c_encoding()], clock_text(local));
  }
  const chrono::year_month_day date(day);
  return fmt::format("{} {} {}", static_cast<unsigned>(date.day()), kMonths[static_cast<unsigned>(date.month()) - 1],
                     clock_text(local));
}

}  // namespace starling::policy
