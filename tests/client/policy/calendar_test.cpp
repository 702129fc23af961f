#include "client/policy/calendar.h"

#include <doctest/doctest.h>

#include "tests/client/policy/zones.h"

using namespace starling;
using namespace starling::policy;

namespace {

wire::WeekHours hours(std::string_view text) {
  const auto parsed = wire::parse_week_hours(text);
  REQUIRE_MESSAGE(parsed.ok(), text);
  return *parsed;
}

constexpr const char* kBerlin = "CET-1CEST,M3.5.0,M10.5.0/3";

}  // namespace

TEST_CASE("the hour of the week is the C library's, through a year with two changes of time") {
  const LibraryZone zone(kBerlin);
  const UtcOffset offset = LibraryZone::offset();
  for (WallTime t = utc(2026, 1, 1); t < utc(2027, 1, 1); t.unix_ms += 25 * 60'000) {
    const std::tm local = LibraryZone::local(t);
    REQUIRE(hour_of_week(t, offset) == (local.tm_wday + 6) % 7 * 24 + local.tm_hour);
  }
}

TEST_CASE("a window opens and closes on the hour") {
  const UtcOffset offset = central_europe();
  const WallTime friday_noon = utc(2026, 11, 20, 11);
  CHECK(next_change(hours("mon-fri 18-24"), friday_noon, offset) == utc(2026, 11, 20, 17));
  CHECK(next_change(hours("mon-fri 18-24"), utc(2026, 11, 20, 17), offset) == utc(2026, 11, 20, 23));
  CHECK(next_change(hours("mon 0-1"), friday_noon, offset) == utc(2026, 11, 22, 23));
  CHECK_FALSE(next_change(hours("always"), friday_noon, offset).has_value());
  CHECK_FALSE(next_change(hours("never"), friday_noon, offset).has_value());
}

TEST_CASE("a window whose first hour is skipped in spring opens with the clocks' jump") {
  const UtcOffset offset = central_europe();
  // On 29 March 2:00 does not exist: 1:59 CET is followed by 3:00 CEST.
  CHECK(next_change(hours("daily 2-5"), utc(2026, 3, 28, 23, 30), offset) == utc(2026, 3, 29, 1));
  CHECK_FALSE(hours("daily 2-3")[static_cast<std::size_t>(hour_of_week(utc(2026, 3, 29, 1), offset))]);
}

TEST_CASE("an hour that comes twice in autumn counts both times") {
  const UtcOffset offset = central_europe();
  // On 25 October 2:00-3:00 CEST is followed by 2:00-3:00 CET.
  CHECK(next_change(hours("daily 2-3"), utc(2026, 10, 24, 23), offset) == utc(2026, 10, 25, 0));
  CHECK(next_change(hours("daily 2-3"), utc(2026, 10, 25, 0), offset) == utc(2026, 10, 25, 2));
}

TEST_CASE("half-hour zones change on their own hour") {
  const UtcOffset offset = lord_howe();
  CHECK(next_change(hours("daily 8-9"), utc(2026, 7, 1, 12), offset) == utc(2026, 7, 1, 21, 30));
}

TEST_CASE("a month of data runs between local midnights, through changes of time and years") {
  const UtcOffset offset = central_europe();
  const Month october = month_around(utc(2026, 10, 10), 1, offset);
  CHECK(october.begin == utc(2026, 9, 30, 22));  // summer time
  CHECK(october.end == utc(2026, 10, 31, 23));   // winter time
  const Month shifted = month_around(utc(2026, 1, 5), 15, offset);
  CHECK(shifted.begin == utc(2025, 12, 14, 23));
  CHECK(shifted.end == utc(2026, 1, 14, 23));
  CHECK(month_around(shifted.end, 15, offset).begin == shifted.end);
  CHECK(month_around({shifted.end.unix_ms - 1}, 15, offset).begin == shifted.begin);
}

TEST_CASE("months follow one another without a gap, whatever day they begin on") {
  const LibraryZone zone(kBerlin);
  const UtcOffset offset = LibraryZone::offset();
  for (int first_day = 1; first_day <= 28; ++first_day) {
    Month month = month_around(utc(2026, 1, 1), first_day, offset);
    for (int i = 0; i < 24; ++i) {
      const std::tm begin = LibraryZone::local(month.begin);
      REQUIRE(begin.tm_mday == first_day);
      REQUIRE(begin.tm_hour == 0);
      REQUIRE(month_around({month.end.unix_ms - 1}, first_day, offset).begin == month.begin);
      const Month next = month_around(month.end, first_day, offset);
      REQUIRE(next.begin == month.end);
      month = next;
    }
  }
}

TEST_CASE("a snooze is as long as it says, and tomorrow is 6:00 of the next day even when clocks change") {
  const UtcOffset offset = central_europe();
  const WallTime now = utc(2026, 3, 28, 21);  // 22:00; clocks change in the night
  CHECK(end_of_snooze("15m", now, offset)->unix_ms == now.unix_ms + 15 * 60'000);
  CHECK(end_of_snooze("8h", now, offset)->unix_ms == now.unix_ms + 8 * 3'600'000);
  CHECK(*end_of_snooze("tomorrow", now, offset) == utc(2026, 3, 29, 4));
  CHECK(*end_of_snooze("tomorrow", utc(2026, 10, 24, 10), offset) == utc(2026, 10, 25, 5));
}

TEST_CASE("what is no length of time is refused with what would be one") {
  const UtcOffset offset = central_europe();
  for (const char* text : {"", "m", "-5m", "0h", "15", "15x", "1.5h", "366d", "99999999999999999999h", "soon"}) {
    const auto end = end_of_snooze(text, utc(2026, 1, 1), offset);
    REQUIRE_FALSE_MESSAGE(end.ok(), text);
    CHECK(end.error().message.find("tomorrow") != std::string::npos);
  }
}

TEST_CASE("moments are said as people say them") {
  const UtcOffset offset = central_europe();
  const WallTime now = utc(2026, 11, 20, 13, 5);  // Friday 14:05
  CHECK(moment_text(utc(2026, 11, 20, 17), now, offset) == "18:00");
  CHECK(moment_text(utc(2026, 11, 21, 8, 30), now, offset) == "Saturday 9:30");
  CHECK(moment_text(utc(2026, 12, 24, 17), now, offset) == "24 December 18:00");
}
