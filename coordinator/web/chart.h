// Charts. Each is an inline SVG that stretches to the available width, a table of the figures, and the figures once
// more as data for charts.js, which lets viewers read values and zoom where scripts run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace starling::web {

// x counts rounds or days (Chart::Over); y is in the unit that Chart::y_name gives.
struct ChartPoint {
  std::int64_t x = 0;
  double y = 0;
};

struct Chart {
  std::string_view id;     // the section's id; unique on the page
  std::string_view title;  // plain text, like all texts that follow
  std::string what;        // shown beneath the title
  std::string label;       // the whole chart in a sentence, for people who cannot see it
  std::string_view y_name;
  enum class Over : std::uint8_t { rounds, days };  // the unit of x; days count from 1970-01-01
  Over over = Over::rounds;
  enum class Shape : std::uint8_t { line, bars };
  Shape shape = Shape::line;
  bool from_zero = false;          // the axis of y begins at zero, whatever the values are
  int places = 0;                  // decimal places of a value
  std::vector<ChartPoint> points;  // at least one, or two for a line; x ascends
};

// A section element with the chart.
std::string chart_section(const Chart& chart);

// The labels of an axis that covers low … high: `count` labels, `step` apart, beginning at `first`.
struct Axis {
  double first = 0;
  double step = 1;
  int count = 2;
  [[nodiscard]] double last() const { return first + step * (count - 1); }
};
// Steps are 1, 2 or 5 times a power of ten; there are at most about `labels` of them.
Axis axis_for(double low, double high, int labels);

// Decimal places needed to show three significant digits of values up to `most`.
int places_for(double most);
// At most `count` (2 or more) of the indices 0 … size - 1, evenly spaced, both ends included.
std::vector<std::size_t> spread(std::size_t size, std::size_t count);

}  // namespace starling::web
