#include "shared/base/settled_clock.h"

#include <ctime>

#include <cstdlib>

namespace starling {
namespace {

// A clock that a time service draws towards the right time is no jump.
constexpr std::int64_t kDriftMs = 2000;
constexpr std::int64_t kDriftPart = 1000;  // a thousandth of the time between two looks

}  // namespace

TimePoint SleeplessClock::now() const {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return TimePoint(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

WallTime SleeplessClock::wall_now() const { return SystemClock().wall_now(); }

SettledClock::SettledClock(const Clock& machine, const Clock& elapsed)
    : machine_(machine), elapsed_(elapsed), state_{machine.wall_now()}, looked_(elapsed.now()) {}

SettledClock::State SettledClock::look() const {
  const MutexLock lock(mutex_);
  const TimePoint now = elapsed_.now();
  const std::int64_t passed_ms = to_ms(now - looked_);
  const WallTime expected{state_.wall.unix_ms + passed_ms};
  const WallTime claimed = machine_.wall_now();
  const std::int64_t jump_ms = claimed.unix_ms - expected.unix_ms;
  const std::int64_t drift_ms = kDriftMs + passed_ms / kDriftPart;
  if (std::abs(jump_ms) <= kSmallJumpMs) {
    claimed_jump_ms_ = 0;
  } else if (claimed_jump_ms_ == 0 || std::abs(jump_ms - claimed_jump_ms_) > drift_ms) {
    claimed_jump_ms_ = jump_ms;
    claimed_since_ = now;
  }
  const bool waits = claimed_jump_ms_ != 0 && now - claimed_since_ < kStandsFor;
  looked_ = now;
  if (waits) {
    state_.wall = expected;
    return state_;
  }
  claimed_jump_ms_ = 0;
  state_.wall = claimed;
  if (std::abs(jump_ms) > drift_ms) state_.jumped_ms += jump_ms;
  return state_;
}

}  // namespace starling
