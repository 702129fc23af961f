// Curves on a logarithmic axis as an SVG picture: panels side by side, one legend.
#pragma once

#include <string>
#include <vector>

namespace starling::plot {

// One curve of a panel.
struct PlotCurve {
  std::string label;           // curves with equal labels have one colour in all panels
  std::vector<double> values;  // values at 0, 1, 2, …; those below the axis are drawn at its lower end
};

// One set of axes. The vertical one is alike in all panels; the horizontal one is as long as the panel's longest curve.
struct PlotPanel {
  std::string title;
  std::vector<PlotCurve> curves;
};

// Texts and scale that hold for all panels.
struct PlotOptions {
  std::string title;
  std::string x_label;
  std::string y_label;
  int decades = 12;  // length of the axis, down from 1
};

std::string curve_plot(const std::vector<PlotPanel>& panels, const PlotOptions& options);

}  // namespace starling::plot
