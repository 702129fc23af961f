#include "client/daemon/corrected_clock.h"

#include <doctest/doctest.h>

using namespace starling;

namespace {

constexpr std::int64_t kHourMs = 3'600'000;
constexpr std::int64_t kYearMs = 365 * 24 * kHourMs;

class TestClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override { return monotonic; }
  [[nodiscard]] WallTime wall_now() const override { return wall; }
  void pass(std::int64_t ms) {
    monotonic += from_ms(ms);
    wall.unix_ms += ms;
  }
  TimePoint monotonic = TimePoint() + std::chrono::hours(1);
  WallTime wall{1'790'000'000'000};
};

}  // namespace

TEST_CASE("the coordinator's time goes on when this machine's clock is set") {
  TestClock machine;
  const WallTime right = machine.wall;
  machine.wall.unix_ms -= 5 * kYearMs;
  daemon::CorrectedClock clock(machine, machine);
  CHECK(clock.wall_now() == machine.wall);
  CHECK_FALSE(clock.coordinators_time().has_value());
  clock.set_wall_time(right.unix_ms);
  machine.pass(1000);
  CHECK(clock.wall_now().unix_ms == right.unix_ms + 1000);
  machine.wall.unix_ms += 5 * kYearMs;  // the time service; no reply has come since
  CHECK(clock.wall_now().unix_ms == right.unix_ms + 1000);
  CHECK(clock.coordinators_time()->unix_ms == right.unix_ms + 1000);
}

TEST_CASE("a time that is shown is the volunteer's own, unless it is many hours off") {
  TestClock machine;
  daemon::CorrectedClock clock(machine, machine);
  const WallTime own{machine.wall.unix_ms - 2 * kHourMs};
  CHECK(clock.or_own(own) == own);
  clock.set_wall_time(machine.wall.unix_ms);
  CHECK(clock.or_own(own) == own);
  CHECK(clock.or_own({0}) == machine.wall);
}
