// Measurements as an SVG picture: a line for each setting, a dot for each measurement, a bar at their median.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace starling::plot {

// Repeated measurements of one quantity; their median is marked.
struct DotSeries {
  std::string label;  // series with equal labels have one colour
  std::vector<double> values;
};

// The measurements of one setting.
struct DotRow {
  std::string label;
  std::vector<DotSeries> series;
  std::optional<double> aim;  // bound that the median should not pass
};

// Rows that share an axis.
struct DotPanel {
  std::string title;
  std::string x_label;
  bool logarithmic = false;  // then all values are above 0
  double reference = 0;      // value at which a line is drawn
  std::vector<DotRow> rows;
};

// The mean of the two middle values when their number is even. Needs at least one value.
double median(std::vector<double> values);

// Draws the panels one beneath the other. Panels without any value are left out.
std::string dot_plot(const std::string& title, const std::vector<DotPanel>& panels);

}  // namespace starling::plot
