// How long a failed piece of work waits: from a quarter of a second, twice as long after each failure in a row.
#pragma once

#include <algorithm>
#include <chrono>

#include "shared/base/clock.h"

namespace starling::session {

// `failures` counts failures in a row, at least 1.
inline Duration retry_delay(int failures, Duration max) {
  constexpr Duration kFirst = std::chrono::milliseconds(250);
  return std::min(max, kFirst * (1 << std::min(failures - 1, 10)));
}

}  // namespace starling::session
