// This machine's clock, corrected by the time in the coordinator's replies: a volunteer's clock that is an hour off
// must not make good certificates look bad, nor one that is set while the daemon runs.
#pragma once

#include <atomic>
#include <cstdlib>
#include <optional>

#include "shared/base/clock.h"
#include "shared/base/settled_clock.h"

namespace starling::daemon {

class CorrectedClock final : public Clock {
 public:
  // By this machine's own clocks.
  CorrectedClock() : machine_(own_machine_), elapsed_(own_elapsed_) {}
  // `elapsed` counts the time asleep, too. Both outlive this.
  CorrectedClock(const Clock& machine, const Clock& elapsed) : machine_(machine), elapsed_(elapsed) {}

  [[nodiscard]] TimePoint now() const override { return machine_.now(); }
  [[nodiscard]] WallTime wall_now() const override {
    const WallTime corrected{machine_.wall_now().unix_ms + offset_ms_.load(std::memory_order_relaxed)};
    return or_own(corrected);
  }
  // The time by the last reply and by what has passed since, asleep or awake; empty before the first one.
  [[nodiscard]] std::optional<WallTime> coordinators_time() const {
    const std::int64_t offset_ms = since_start_ms_.load(std::memory_order_relaxed);
    if (offset_ms == kUnknown) return std::nullopt;
    return WallTime{offset_ms + to_ms(elapsed_.now().time_since_epoch())};
  }
  // The volunteer's own time, for what is shown beside it; the coordinator's where that is many hours off.
  [[nodiscard]] WallTime or_own(WallTime own) const {
    const auto known = coordinators_time();
    return known && std::abs(known->unix_ms - own.unix_ms) > SettledClock::kSmallJumpMs ? *known : own;
  }
  // Takes the time from a reply that has just arrived. From any thread.
  void set_wall_time(std::int64_t unix_ms) {
    offset_ms_.store(unix_ms - machine_.wall_now().unix_ms, std::memory_order_relaxed);
    since_start_ms_.store(unix_ms - to_ms(elapsed_.now().time_since_epoch()), std::memory_order_relaxed);
  }

 private:
  static constexpr std::int64_t kUnknown = INT64_MIN;

  SystemClock own_machine_;
  SleeplessClock own_elapsed_;
  const Clock& machine_;
  const Clock& elapsed_;
  std::atomic<std::int64_t> offset_ms_{0};              // to the machine's wall clock
  std::atomic<std::int64_t> since_start_ms_{kUnknown};  // to the time since the machine has started
};

}  // namespace starling::daemon
