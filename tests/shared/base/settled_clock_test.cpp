#include "shared/base/settled_clock.h"

#include <doctest/doctest.h>

using namespace starling;

namespace {

constexpr std::int64_t kHourMs = 3'600'000;
constexpr std::int64_t kYearMs = 365 * 24 * kHourMs;

class TestClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override { return monotonic; }
  [[nodiscard]] WallTime wall_now() const override { return wall; }
  void pass(Duration time) {
    monotonic += time;
    wall.unix_ms += to_ms(time);
  }
  TimePoint monotonic = TimePoint() + std::chrono::hours(1);
  WallTime wall{1'790'000'000'000};
};

}  // namespace

TEST_CASE("a settled clock runs with the machine's, however seldom somebody looks") {
  TestClock machine;
  const SettledClock clock(machine, machine);
  for (const std::int64_t ms : {1L, 1000L, 50 * kHourMs, kYearMs}) {
    machine.pass(from_ms(ms));
    CHECK(clock.wall_now() == machine.wall);
  }
  CHECK(clock.now() == machine.monotonic);
  CHECK(clock.jumped_ms() == 0);
}

TEST_CASE("a clock that is years off for seconds is not believed, in either direction") {
  for (const std::int64_t wrong_ms : {5 * kYearMs, -5 * kYearMs}) {
    TestClock machine;
    const SettledClock clock(machine, machine);
    const WallTime right = machine.wall;
    machine.wall.unix_ms += wrong_ms;
    for (int second = 1; second < 50; ++second) {
      machine.pass(from_ms(1000));
      CHECK(clock.wall_now().unix_ms == right.unix_ms + second * 1000);
    }
    machine.wall.unix_ms -= wrong_ms;
    CHECK(clock.wall_now() == machine.wall);
    CHECK(clock.jumped_ms() == 0);
    machine.wall.unix_ms += wrong_ms;  // another minute begins
    machine.pass(from_ms(20'000));
    CHECK(clock.wall_now().unix_ms != machine.wall.unix_ms);
  }
}

TEST_CASE("a new time that stands for a minute is believed, and so are small corrections at once") {
  TestClock machine;
  const SettledClock clock(machine, machine);
  machine.wall.unix_ms += 5 * kYearMs;
  for (int second = 0; second <= 61; ++second) {
    machine.pass(from_ms(1000));
    (void)clock.wall_now();
  }
  CHECK(clock.wall_now() == machine.wall);
  CHECK(clock.jumped_ms() == 5 * kYearMs);
  machine.wall.unix_ms -= kHourMs;
  CHECK(clock.wall_now() == machine.wall);
  CHECK(clock.jumped_ms() == 5 * kYearMs - kHourMs);
  machine.wall.unix_ms += 500;  // drawn, not set
  CHECK(clock.wall_now() == machine.wall);
  CHECK(clock.jumped_ms() == 5 * kYearMs - kHourMs);
}

TEST_CASE("the time asleep is no jump") {
  constexpr std::int64_t kNightMs = 9 * kHourMs;
  TestClock machine;  // its monotonic time stands still while the machine sleeps
  TestClock sleepless;
  const SettledClock clock(machine, sleepless);
  const SettledClock sleepy(machine, machine);
  machine.wall.unix_ms += kNightMs;
  sleepless.pass(from_ms(kNightMs));
  CHECK(clock.wall_now() == machine.wall);
  CHECK(clock.jumped_ms() == 0);
  CHECK(clock.now() == machine.monotonic);
  CHECK(sleepy.wall_now() != machine.wall);
  CHECK(SleeplessClock().now() >= SystemClock().now());
  CHECK(SleeplessClock().wall_now().unix_ms >= SystemClock().wall_now().unix_ms - 1000);
}
