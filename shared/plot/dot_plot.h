// Measurements as an SVG picture: a line for each setting, a dot for each measurement, a bar at their median.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace starling::plot {

struct DotSeries {
  std::string label;  // series of one label have one colour
  std::vector<double> values;
};
struct DotRow {
  std::string label;
  std::vector<DotSeries> series;
  std::optional<double> aim;  // where the median should not be beyond
};
struct DotPanel {
  std::string title;
  std::string x_label;
  bool logarithmic = false;  // values are above 0 then
  double reference = 0;      // a value to draw a line at
  std::vector<DotRow> rows;
};

// Of two in the middle, their mean. There is at least one value.
double median(std::vector<double> values);

// One panel beneath the other. Panels without any value are left out.
std::string dot_plot(const std::string& title, const std::vector<DotPanel>& panels);

}  // namespace starling::plot
