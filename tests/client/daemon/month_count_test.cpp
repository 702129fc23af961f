#include "client/daemon/month_count.h"

#include <doctest/doctest.h>

using namespace starling;
using daemon::MonthCount;

namespace {

constexpr std::int64_t kHourMs = 3'600'000;
constexpr std::int64_t kMonthMs = 30 * 24 * kHourMs;
constexpr WallTime kOctober{100 * kMonthMs};
constexpr WallTime kNovember{101 * kMonthMs};
constexpr WallTime kDecember{102 * kMonthMs};
constexpr WallTime kJanuary{103 * kMonthMs};
constexpr WallTime kFarAhead{900 * kMonthMs};

MonthCount november_with(std::int64_t bytes) {
  MonthCount count({});
  count.look(kNovember, std::nullopt);
  count.add(bytes, 0, 0);
  return count;
}

}  // namespace

TEST_CASE("a month that both clocks end is over") {
  MonthCount count = november_with(7);
  count.look(kDecember, kDecember);
  CHECK(count.used() == storage::MonthTraffic{kDecember, 0, 0, 0});
  CHECK(count.kept().before.empty());
}

TEST_CASE("neither clock ends a month alone while both are known") {
  MonthCount count = november_with(7);
  count.look(kFarAhead, kNovember);
  CHECK(count.used() == storage::MonthTraffic{kNovember, 7, 0, 0});
  count.look(kNovember, kFarAhead);
  CHECK(count.used() == storage::MonthTraffic{kNovember, 7, 0, 0});
}

TEST_CASE("a clock behind the count keeps it, and a coordinator ends the month for it") {
  MonthCount count = november_with(7);
  count.look(kOctober, std::nullopt);
  CHECK(count.used() == storage::MonthTraffic{kNovember, 7, 0, 0});
  count.add(0, 1, 0);
  count.look(kOctober, kNovember);
  CHECK(count.used() == storage::MonthTraffic{kNovember, 7, 1, 0});
  count.look(kOctober, kDecember);
  CHECK(count.used() == storage::MonthTraffic{kDecember, 0, 0, 0});
}

TEST_CASE("what was counted while the clock was ahead counts, and so does what it hid") {
  MonthCount count = november_with(7);
  count.look(kFarAhead, std::nullopt);
  CHECK(count.used().total() == 0);
  count.add(0, 0, 2);
  count.look(kNovember, std::nullopt);  // nobody knows which of the two was right
  CHECK(count.used().total() == 9);
  MonthCount again(count.kept());  // restarted
  again.look(kNovember, kNovember);
  CHECK(again.used() == storage::MonthTraffic{kNovember, 7, 0, 2});
  CHECK(again.kept().before.empty());
}

TEST_CASE("a month that ended while no coordinator was known is forgotten when one says the same") {
  MonthCount count = november_with(7);
  count.look(kDecember, std::nullopt);
  count.add(1, 0, 0);
  count.look(kDecember, kDecember);
  CHECK(count.used() == storage::MonthTraffic{kDecember, 1, 0, 0});
  CHECK(count.kept().before.empty());
}

TEST_CASE("clocks that go mad leave few months behind, and no count goes back") {
  MonthCount count = november_with(7);
  for (int month = 0; month < 20; ++month) {
    count.look({(1000 + month) * kMonthMs}, std::nullopt);
    count.add(1, 0, 0);
  }
  CHECK(count.kept().before.size() == storage::kMonthsBeforeMax);
  count.look(kOctober, std::nullopt);
  CHECK(count.used().total() == 27);
}

TEST_CASE("a coordinator that goes back and then forward gives nothing back") {
  MonthCount count({});
  count.look(kNovember, kNovember);
  count.add(400, 0, 0);
  for (const WallTime lie : {kOctober, kFarAhead, WallTime{}}) {
    count.look(kNovember, lie);
    CHECK(count.used() == storage::MonthTraffic{kNovember, 400, 0, 0});
    count.look(kNovember, kNovember);
    CHECK(count.used() == storage::MonthTraffic{kNovember, 400, 0, 0});
  }
  count.look(kNovember, kOctober);
  count.add(0, 50, 0);  // sent in November, as the computer knows
  MonthCount again(count.kept());
  again.look(kNovember, kNovember);
  CHECK(again.used() == storage::MonthTraffic{kNovember, 400, 50, 0});
  again.look(kDecember, kDecember);
  CHECK(again.used() == storage::MonthTraffic{kDecember, 0, 0, 0});
  CHECK(again.kept_bytes() == 0);
}

TEST_CASE("two projects whose clocks differ at the month's turn end it once, for both") {
  MonthCount count({});
  count.look(kOctober, kOctober);
  count.add(300, 0, 0);
  for (int turn = 0; turn < 10; ++turn) {
    count.look(kNovember, turn % 2 == 0 ? kNovember : kOctober);
    CHECK(count.used() == storage::MonthTraffic{kNovember, turn, 0, 0});
    count.add(1, 0, 0);
  }
  CHECK(count.kept().before.size() <= 1);
}

TEST_CASE("what a coordinator hides from a clock that is behind is there again when that clock is set right") {
  MonthCount count({});
  count.look(kNovember, kNovember);
  count.add(400, 0, 0);
  for (const WallTime lie : {kDecember, kJanuary, kFarAhead}) {
    count.look(kOctober, lie);
    CHECK(count.used() == storage::MonthTraffic{lie, 0, 0, 0});
    count.add(0, 1, 0);
  }
  MonthCount again(count.kept());
  again.look(kNovember, kNovember);
  CHECK(again.used() == storage::MonthTraffic{kNovember, 400, 3, 0});
  again.look(kDecember, kDecember);
  CHECK(again.kept_bytes() == 0);
}

TEST_CASE("a clock that is ahead for good does not keep a month from ending") {
  MonthCount count({});
  for (int half = 0; half < 12; ++half) {
    // The computer's month turns in the middle of the coordinator's.
    count.look({kFarAhead.unix_ms + (half + 1) / 2 * kMonthMs}, WallTime{kNovember.unix_ms + half / 2 * kMonthMs});
    count.add(10, 0, 0);
    CHECK(count.used().total() >= (half % 2 == 0 ? 10 : 20));
    CHECK(count.used().total() <= 30);
    CHECK(count.used().since == WallTime{kNovember.unix_ms + half / 2 * kMonthMs});
  }
}

TEST_CASE("a journey moves the month's begin and gives nothing back") {
  MonthCount count({});
  count.look(kNovember, kNovember);
  count.add(400, 0, 0);
  const WallTime west{kNovember.unix_ms + 6 * kHourMs};
  count.look(west, west);
  CHECK(count.used() == storage::MonthTraffic{west, 400, 0, 0});
  count.add(0, 5, 0);
  const WallTime east{kNovember.unix_ms - 13 * kHourMs};
  count.look(east, std::nullopt);  // restarted there
  CHECK(count.used() == storage::MonthTraffic{east, 400, 5, 0});
  count.look(east, east);
  CHECK(count.used() == storage::MonthTraffic{east, 400, 5, 0});
  CHECK(count.kept().before.empty());
  const WallTime turned{kDecember.unix_ms - 13 * kHourMs};
  count.look(turned, turned);
  CHECK(count.used() == storage::MonthTraffic{turned, 0, 0, 0});
}
