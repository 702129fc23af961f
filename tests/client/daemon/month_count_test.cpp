#include "client/daemon/month_count.h"

#include <doctest/doctest.h>

using namespace starling;
using daemon::MonthCount;

namespace {

constexpr WallTime kOctober{100};
constexpr WallTime kNovember{200};
constexpr WallTime kDecember{300};
constexpr WallTime kFarAhead{9000};

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
    count.look({1000 + month}, std::nullopt);
    count.add(1, 0, 0);
  }
  CHECK(count.kept().before.size() == storage::kMonthsBeforeMax);
  count.look(kOctober, std::nullopt);
  CHECK(count.used().total() == 4);
}
