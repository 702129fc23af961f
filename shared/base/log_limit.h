// Keeps strangers from filling the log: an event that they can cause is logged at most once per interval, and the line
// says how many were suppressed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "shared/base/clock.h"

namespace starling {

// Not thread-safe; each place that logs has its own.
class LogLimit {
 public:
  explicit LogLimit(Duration interval = std::chrono::seconds(10)) : interval_(interval) {}

  // Empty: suppress this line. Otherwise the line may be written, and the value is the number of lines suppressed since
  // the last one.
  std::optional<std::int64_t> admit(TimePoint now) {
    if (now < next_) {
      ++kept_back_;
      return std::nullopt;
    }
    next_ = now + interval_;
    return std::exchange(kept_back_, 0);
  }

 private:
  Duration interval_;
  TimePoint next_{};
  std::int64_t kept_back_ = 0;
};

// The end of a line that stands for more: " (3 more since the last such line)"; empty where there are none.
inline std::string more_of_them(std::int64_t kept_back) {
  return kept_back > 0 ? " (" + std::to_string(kept_back) + " more since the last such line)" : std::string();
}

}  // namespace starling
