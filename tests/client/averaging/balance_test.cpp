#include "client/averaging/balance.h"

#include <doctest/doctest.h>

using namespace starling;
using namespace starling::averaging;
using namespace std::chrono_literals;

namespace {

bool everybody(Rank) { return true; }

}  // namespace

TEST_CASE("a link that is ahead rests until the last one has moved") {
  Balance balance({100, 100, 0});
  TimePoint now{};
  balance.set_sent(now, 1, 1);
  now += 10ms;
  balance.set_sent(now, 0, 3);
  CHECK_FALSE(balance.rests(now, 0, everybody));  // two segments ahead
  balance.set_sent(now, 0, 4);
  CHECK(balance.rests(now, 0, everybody));
  CHECK(balance.wake_at() > now);
  CHECK(balance.take_resting() == std::vector<Rank>{0});
  CHECK(balance.wake_at() == kNever);
  CHECK(balance.rests(now, 0, everybody));
  balance.set_sent(now, 1, 2);
  CHECK_FALSE(balance.rests(now, 0, everybody));
  CHECK(balance.wake_at() == kNever);
}

TEST_CASE("links are in step when they have carried the same part of what they will carry") {
  Balance balance({300, 100});
  TimePoint now{};
  balance.set_sent(now, 0, 1);
  now += 1s;
  balance.set_sent(now, 0, 30);
  balance.set_sent(now, 1, 10);
  CHECK_FALSE(balance.rests(now, 0, everybody));
  CHECK_FALSE(balance.rests(now, 1, everybody));
  balance.set_sent(now, 1, 13);
  CHECK(balance.rests(now, 1, everybody));
}

TEST_CASE("fast links do not rest") {
  Balance balance({100, 100});
  balance.set_sent(TimePoint{}, 0, 1);
  balance.set_sent(TimePoint{} + 50ms, 0, 50);
  CHECK_FALSE(balance.rests(TimePoint{} + 50ms, 0, everybody));
  CHECK(balance.wake_at() == kNever);
}

TEST_CASE("nobody rests for a link that has nothing to send") {
  Balance balance({100, 100});
  TimePoint now{};
  balance.set_sent(now, 0, 1);
  now += 1s;
  balance.set_sent(now, 0, 50);
  CHECK_FALSE(balance.rests(now, 0, [](Rank rank) { return rank == 0; }));
  CHECK(balance.rests(now, 0, everybody));
  balance.set_sent(now, 1, 100);
  CHECK_FALSE(balance.rests(now, 0, everybody));
}

TEST_CASE("a link that stays behind is not waited for again, until it has caught up") {
  Balance balance({100, 100});
  TimePoint now{};
  balance.set_sent(now, 1, 1);
  now += 40ms;
  balance.set_sent(now, 0, 4);
  CHECK(balance.rests(now, 0, everybody));
  CHECK(balance.wake_at() == now + 30ms);  // three segments at 10 ms each
  CHECK(balance.rests(now + 29ms, 0, everybody));
  CHECK_FALSE(balance.rests(now + 30ms, 0, everybody));
  balance.set_sent(now + 30ms, 0, 20);
  CHECK_FALSE(balance.rests(now + 30ms, 0, everybody));
  balance.set_sent(now + 50ms, 1, 18);
  CHECK_FALSE(balance.rests(now + 50ms, 0, everybody));
  balance.set_sent(now + 50ms, 0, 21);
  CHECK(balance.rests(now + 50ms, 0, everybody));
}
