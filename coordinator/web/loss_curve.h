// How the model gets better, as an inline SVG that stretches to the width it gets.
#pragma once

#include <string>
#include <vector>

#include "db/stores/records.h"

namespace starling::web {

constexpr std::size_t kCurvePointsMax = 240;

// A section with the held-out bits per byte over rounds, oldest first; empty for fewer than two.
std::string loss_curve(const std::vector<db::Evaluation>& evaluations);
// Thinned evenly to `count`; the ends stay.
std::vector<db::Evaluation> thinned(const std::vector<db::Evaluation>& evaluations, std::size_t count);

// The labels of an axis that holds low … high: every `step` from `first`, `count` of them.
struct Axis {
  double first = 0;
  double step = 1;
  int count = 2;
  [[nodiscard]] double last() const { return first + step * (count - 1); }
};
// Steps of 1, 2 or 5 times a power of ten; at most about `labels` of them.
Axis axis_for(double low, double high, int labels);

// Of every chart, in units of its SVG.
constexpr double kChartWidth = 720;
constexpr double kChartHeight = 200;
// From the top down, as a column beside the chart; from left to right, as a row beneath it.
std::string axis_labels(const Axis& axis, bool downwards);
// A line across the chart for every label of its values.
std::string grid_lines(const Axis& values);

}  // namespace starling::web
