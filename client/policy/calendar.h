// Local time without a clock or a time-zone file: the caller gives the local offset from UTC at any moment. Summer time
// makes hours that are missing or come twice; all functions here return moments, so nothing is off by one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/control/week_hours.h"

namespace starling::policy {

// Seconds to add to UTC at that moment (Unix time in seconds) for local time. It is a multiple of 15 minutes and
// changes at such multiples, as everywhere since 1972.
using UtcOffset = std::function<std::int64_t(std::int64_t unix_s)>;

// Index into wire::WeekHours.
int hour_of_week(WallTime when, const UtcOffset& offset);
// The first moment after `now` at which `hours` has another value than now; empty if there is none within nine days.
std::optional<WallTime> next_change(const wire::WeekHours& hours, WallTime now, const UtcOffset& offset);

// The month of a data cap around `now`, from local midnight to local midnight. `first_day` is 1..28.
struct Month {
  WallTime begin;
  WallTime end;
};
Month month_around(WallTime now, int first_day, const UtcOffset& offset);

// Parses "15m", "3h", "2d", or "tomorrow" (6:00 of the next day). invalid_argument lists the possible forms.
Result<WallTime> end_of_snooze(std::string_view length, WallTime now, const UtcOffset& offset);

// "18:00", "Tuesday 18:00" within a week, "3 December 18:00" beyond.
std::string moment_text(WallTime when, WallTime now, const UtcOffset& offset);

}  // namespace starling::policy
