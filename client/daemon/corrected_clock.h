// This machine's clock, corrected by the time in the coordinator's replies: a volunteer's clock that is an hour off
// must not make good certificates look bad.
#pragma once

#include <atomic>

#include "shared/base/clock.h"

namespace starling::daemon {

class CorrectedClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override { return machine_.now(); }
  [[nodiscard]] WallTime wall_now() const override {
    return {machine_.wall_now().unix_ms + offset_ms_.load(std::memory_order_relaxed)};
  }
  // Takes the time from a reply that has just arrived. From any thread.
  void set_wall_time(std::int64_t unix_ms) {
    offset_ms_.store(unix_ms - machine_.wall_now().unix_ms, std::memory_order_relaxed);
  }

 private:
  SystemClock machine_;
  std::atomic<std::int64_t> offset_ms_{0};
};

}  // namespace starling::daemon
