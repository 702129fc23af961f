// Curves on a logarithmic axis as an SVG picture: panels side by side, one legend.
#pragma once

#include <string>
#include <vector>

namespace starling::plot {

struct PlotCurve {
  std::string label;           // curves of one label have one colour in all panels
  std::vector<double> values;  // at 0, 1, 2, …; what is below the axis is drawn on its lower end
};
struct PlotPanel {
  std::string title;
  std::vector<PlotCurve> curves;
};
struct PlotOptions {
  std::string title;
  std::string x_label;
  std::string y_label;
  int decades = 12;  // of the axis, down from 1
};

std::string curve_plot(const std::vector<PlotPanel>& panels, const PlotOptions& options);

}  // namespace starling::plot
