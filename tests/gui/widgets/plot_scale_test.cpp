#include "gui/widgets/plot_scale.h"

#include <doctest/doctest.h>

#include <initializer_list>

using namespace starling::widgets;

TEST_CASE("an axis has round numbers around all that it shows") {
  const PlotScale loss = plotScale(3.27, 5.83, 4);
  CHECK(loss.low == 3);
  CHECK(loss.high == 6);
  CHECK(loss.step == 1);
  CHECK(loss.decimals == 0);
  CHECK(loss.ticks() == 4);
  const PlotScale credit = plotScale(0, 0.0136, 4);
  CHECK(credit.high == doctest::Approx(0.015));
  CHECK(credit.decimals == 3);
  for (const double top : {1.0, 1e-12, 7.0, 99.0, 2896.0, 1e9}) {
    const PlotScale amount = plotScale(0, top, 4);
    CHECK(amount.low == 0);
    CHECK(amount.high >= top * (1 - 1e-9));
    CHECK(amount.ticks() >= 3);
    CHECK(amount.ticks() <= 6);
  }
}

TEST_CASE("a single value stands between two others") {
  for (const double value : {0.32, -4.0, 1e6}) {
    const PlotScale scale = plotScale(value, value, 4);
    CHECK(scale.low < value);
    CHECK(scale.high > value);
  }
  CHECK(plotScale(0, 0, 4).low == 0);
}

TEST_CASE("time is divided at full hours and days of the place") {
  constexpr std::int64_t kHourMs = 3'600'000;
  const PlotScale day = timeScale(kHourMs / 3, 23 * kHourMs, 0, 5);
  CHECK(day.step == 6 * kHourMs);
  CHECK(day.low == 0);
  CHECK(day.high == 24 * kHourMs);
  const PlotScale month = timeScale(100 * kHourMs, 800 * kHourMs, 3 * kHourMs, 5);
  CHECK(month.step == 7 * 24 * kHourMs);
  const auto local_midnight = static_cast<std::int64_t>(month.low) + 3 * kHourMs;
  CHECK(local_midnight % (24 * kHourMs) == 0);
}
