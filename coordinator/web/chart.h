// Charts: an inline SVG that stretches to the width it gets, the same figures as a table, and the same again for the
// script that draws them so that they can be asked and zoomed into, where scripts run (charts.js).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace starling::web {

struct ChartPoint {
  std::int64_t x = 0;
  double y = 0;
};

struct Chart {
  std::string_view id;     // of its section, unlike any other on the page
  std::string_view title;  // plain text, as all that follows
  std::string what;        // beneath the title
  std::string label;       // the whole chart in a sentence, for those who do not see it
  std::string_view y_name;
  enum class Over : std::uint8_t { rounds, days };  // what x counts; days since 1970
  Over over = Over::rounds;
  enum class Shape : std::uint8_t { line, bars };
  Shape shape = Shape::line;
  bool from_zero = false;          // its axis begins there, whatever the values
  int places = 0;                  // behind the point, of a value
  std::vector<ChartPoint> points;  // at least one, or two of a line; x ascends
};

// A section.
std::string chart_section(const Chart& chart);

// The labels of an axis that holds low … high: every `step` from `first`, `count` of them.
struct Axis {
  double first = 0;
  double step = 1;
  int count = 2;
  [[nodiscard]] double last() const { return first + step * (count - 1); }
};
// Steps of 1, 2 or 5 times a power of ten; at most about `labels` of them.
Axis axis_for(double low, double high, int labels);

// How many places behind the point show three significant ones of values up to `most`.
int places_for(double most);
// Of 0 … size - 1: at most `count` (2 or more), evenly spread, with both ends.
std::vector<std::size_t> spread(std::size_t size, std::size_t count);

}  // namespace starling::web
