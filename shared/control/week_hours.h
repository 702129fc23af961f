// The hours of a week in which something is allowed: 7 days x 24 hours of local time, written as people say it.
//
//   "always"   "never"   "mon-fri 18-24, sat-sun 0-24"   "daily 22-6" (into the next morning)
#pragma once

#include <bitset>
#include <string>
#include <string_view>

#include "shared/base/result.h"

namespace starling::wire {

constexpr int kDayHours = 24;
constexpr int kWeekHours = 7 * kDayHours;

// Bit 0 is Monday from 0:00 to 1:00.
using WeekHours = std::bitset<kWeekHours>;

// Returns the shortest of the forms above; parse_week_hours reads it back.
std::string to_text(const WeekHours& hours);
// Returns invalid_argument with the reason and the right form.
Result<WeekHours> parse_week_hours(std::string_view text);

}  // namespace starling::wire
