// Keeps strangers from filling the log: of a thing that they can make happen, one line in a while is written, and it
// tells how many were not.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "shared/base/clock.h"

namespace starling {

// Not thread-safe; one for each place that logs.
class LogLimit {
 public:
  explicit LogLimit(Duration interval = std::chrono::seconds(10)) : interval_(interval) {}

  // Nothing: keep this line back. Else it may be written; the number of lines kept back since the last one.
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

}  // namespace starling
