// The machine's clock for decisions that a wrong hour must not make: it runs evenly, and a jump of many hours counts
// only once the machine has stood by it for a minute. So a clock that is years off until the time service has set it,
// or for the seconds that somebody types at it, moves no counter and ends nothing. May be used from any thread.
#pragma once

#include "shared/base/clock.h"
#include "shared/base/mutex.h"

namespace starling {

// The machine's wall clock; now() counts the time that the machine sleeps, too.
class SleeplessClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override;
  [[nodiscard]] WallTime wall_now() const override;
};

class SettledClock final : public Clock {
 public:
  static constexpr std::int64_t kSmallJumpMs = 6 * 3'600'000;  // believed at once
  static constexpr Duration kStandsFor = std::chrono::seconds(60);

  // `machine` gives now() and the time of day, `elapsed` the time between two looks. Both outlive this.
  SettledClock(const Clock& machine, const Clock& elapsed);

  [[nodiscard]] TimePoint now() const override { return machine_.now(); }
  [[nodiscard]] WallTime wall_now() const override { return look().wall; }
  // The sum of all jumps that were believed, the small ones as well, in milliseconds.
  [[nodiscard]] std::int64_t jumped_ms() const { return look().jumped_ms; }

 private:
  struct State {
    WallTime wall;
    std::int64_t jumped_ms = 0;
  };
  State look() const;

  const Clock& machine_;
  const Clock& elapsed_;
  mutable Mutex mutex_;
  mutable State state_ GUARDED_BY(mutex_);
  mutable TimePoint looked_ GUARDED_BY(mutex_);
  mutable std::int64_t claimed_jump_ms_ GUARDED_BY(mutex_) = 0;  // not believed yet; 0: none
  mutable TimePoint claimed_since_ GUARDED_BY(mutex_);
};

}  // namespace starling
