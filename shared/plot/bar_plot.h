// Horizontal bars made of parts, one beneath the other, as an SVG picture: how long things take, and what the time
// consists of.
#pragma once

#include <string>
#include <vector>

namespace starling::plot {

// One bar, as long as the sum of its parts.
struct Bar {
  std::string label;
  std::vector<double> parts;  // one value per BarPlot::parts; none below 0
  std::string note;           // text at the bar's end
};
struct BarPlot {
  std::string title;
  std::string x_label;
  std::vector<std::string> parts;  // names of the parts
  std::vector<Bar> bars;           // at least one
};

std::string bar_plot(const BarPlot& plot);

}  // namespace starling::plot
