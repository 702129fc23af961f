// When a dead trainer may be started again: at once after one death, later and later while it keeps dying, and not at
// all for a while when it dies too often.
#pragma once

#include <deque>

#include "shared/base/clock.h"

namespace starling::trainer_link {

// Delays between a death and the next start: the first is doubled with every further death, up to the longest.
struct RestartOptions {
  Duration first_delay = std::chrono::milliseconds(50);
  Duration longest_delay = std::chrono::seconds(10);
  int deaths_per_minute = 6;  // after this many within a minute: no start until the oldest is a minute ago
};

class RestartPolicy {
 public:
  explicit RestartPolicy(RestartOptions options = {}) : options_(options) {}

  void on_death(TimePoint now);
  // Called after a call that succeeded.
  void on_success() { in_a_row_ = 0; }

  // The earliest moment to start a child; in the past if it may start now.
  [[nodiscard]] TimePoint next_start() const;
  // Whether next_start() is late because of too many deaths, not because of ordinary back-off.
  [[nodiscard]] bool exhausted(TimePoint now) const;

 private:
  RestartOptions options_;
  std::deque<TimePoint> deaths_;  // the latest deaths, at most deaths_per_minute
  int in_a_row_ = 0;
};

}  // namespace starling::trainer_link
