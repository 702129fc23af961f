// Lying bars made of parts, one beneath the other, as an SVG picture: what takes how long, and of what it consists.
#pragma once

#include <string>
#include <vector>

namespace starling::plot {

struct Bar {
  std::string label;
  std::vector<double> parts;  // as BarPlot::parts; none below 0
  std::string note;           // at the bar's end
};
struct BarPlot {
  std::string title;
  std::string x_label;
  std::vector<std::string> parts;  // what they are called
  std::vector<Bar> bars;           // at least one
};

std::string bar_plot(const BarPlot& plot);

}  // namespace starling::plot
