// Round numbers for a plot's axes.
#pragma once

#include <cstdint>

namespace starling::widgets {

// low and high are multiples of the step.
struct PlotScale {
  double low = 0;
  double high = 1;
  double step = 1;
  int decimals = 0;  // that the multiples of the step need

  [[nodiscard]] int ticks() const;
};

// Around all that lies in [low, high], which may be a single value, in about `steps` steps of 1, 2 or 5 times a power
// of ten.
PlotScale plotScale(double low, double high, int steps);

// The same for moments in ms: steps of minutes, hours or days that people count in, from `offset_ms` (local time's
// distance from UTC) on.
PlotScale timeScale(std::int64_t low_ms, std::int64_t high_ms, std::int64_t offset_ms, int steps);

}  // namespace starling::widgets
