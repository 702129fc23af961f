#include "gui/widgets/plot_scale.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace starling::widgets {
namespace {

constexpr double kMinuteMs = 60e3;
constexpr double kHourMs = 60 * kMinuteMs;
constexpr double kDayMs = 24 * kHourMs;
constexpr std::array kTimeSteps = {5 * kMinuteMs, 10 * kMinuteMs, 15 * kMinuteMs, 30 * kMinuteMs, kHourMs,
                                   2 * kHourMs,   3 * kHourMs,    6 * kHourMs,    kDayMs,         2 * kDayMs,
                                   5 * kDayMs,    7 * kDayMs,     14 * kDayMs,    28 * kDayMs,    91 * kDayMs,
                                   182 * kDayMs,  365 * kDayMs};
constexpr double kRounding = 1e-9;  // tolerance for a value that is a multiple of the step

PlotScale multiples(double low, double high, double step) {
  PlotScale scale;
  scale.step = step;
  scale.low = std::floor(low / step + kRounding) * step;
  scale.high = std::ceil(high / step - kRounding) * step;
  if (scale.high <= scale.low) scale.high = scale.low + step;
  return scale;
}

}  // namespace

int PlotScale::ticks() const { return static_cast<int>(std::lround((high - low) / step)) + 1; }

PlotScale plotScale(double low, double high, int steps) {
  if (!(high > low)) {
    const double around = low == 0 ? 1 : std::abs(low) / 2;
    high = low + around;
    low = low > 0 || low < 0 ? low - around : low;
  }
  const double rough = (high - low) / steps;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double digit : {5, 2, 1}) {
    if (digit * power >= rough * (1 - kRounding)) step = digit * power;
  }
  PlotScale scale = multiples(low, high, step);
  scale.decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step) + kRounding)));
  return scale;
}

PlotScale timeScale(std::int64_t low_ms, std::int64_t high_ms, std::int64_t offset_ms, int steps) {
  const double rough = static_cast<double>(high_ms - low_ms) / steps;
  const auto* step = std::find_if(kTimeSteps.begin(), kTimeSteps.end() - 1, [&](double s) { return s >= rough; });
  const auto offset = static_cast<double>(offset_ms);
  PlotScale scale = multiples(static_cast<double>(low_ms) + offset, static_cast<double>(high_ms) + offset, *step);
  scale.low -= offset;
  scale.high -= offset;
  return scale;
}

}  // namespace starling::widgets
