// Round numbers for a plot's axes.
#pragma once

#include <cstdint>

namespace starling::widgets {

// low and high are multiples of the step.
struct PlotScale {
  double low = 0;
  double high = 1;
  double step = 1;
  int decimals = 0;  // decimal places that the multiples of the step need

  [[nodiscard]] int ticks() const;
};

// A scale that covers [low, high], which may be a single value, in about `steps` steps of 1, 2 or 5 times a power of
// ten.
PlotScale plotScale(double low, double high, int steps);

// A scale for moments in ms, with steps of minutes, hours or days that people count in; they begin at `offset_ms`
// (local time's distance from UTC).
PlotScale timeScale(std::int64_t low_ms, std::int64_t high_ms, std::int64_t offset_ms, int steps);

}  // namespace starling::widgets
