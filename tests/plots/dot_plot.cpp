#include "tests/plots/dot_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "shared/base/verify.h"
#include "shared/plot/svg_canvas.h"

namespace starling::plot {
namespace {

// Pixels.
constexpr double kWidth = 460;  // width of the axis
constexpr double kLeft = 260;   // space for the rows' labels
constexpr double kRight = 90;   // space for the medians
constexpr double kTop = 34, kBottom = 56;
constexpr double kSeriesHeight = 20, kRowGap = 12;
constexpr int kTicksAbout = 6;
// Tick values of an axis of ratios.
constexpr double kRatioTicks[] = {0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.2, 1.5, 2, 3, 5, 7, 10, 20, 50};

double row_height(const DotRow& row) { return kRowGap + kSeriesHeight * static_cast<double>(row.series.size()); }

double panel_height(const DotPanel& panel) {
  double height = kTop + kBottom;
  for (const DotRow& row : panel.rows) height += row_height(row);
  return height;
}

bool has_values(const DotPanel& panel) {
  return std::any_of(panel.rows.begin(), panel.rows.end(), [](const DotRow& row) {
    return std::any_of(row.series.begin(), row.series.end(), [](const DotSeries& one) { return !one.values.empty(); });
  });
}

class Axis {
 public:
  explicit Axis(const DotPanel& panel) : logarithmic_(panel.logarithmic), low_(panel.reference), high_(low_) {
    for (const DotRow& row : panel.rows) {
      if (row.aim) include(*row.aim);
      for (const DotSeries& series : row.series) {
        for (const double value : series.values) include(value);
      }
    }
    if (logarithmic_) {
      low_ /= 1.06;
      high_ *= 1.06;
    } else {
      const double margin = std::max((high_ - low_) / 25, 1e-9);
      low_ -= margin;
      high_ += margin;
    }
  }
  [[nodiscard]] double x_of(double value) const {
    const double part =
        logarithmic_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
    return kLeft + kWidth * part;
  }
  [[nodiscard]] std::vector<double> ticks() const {
    if (logarithmic_) {
      std::vector<double> ticks;
      std::copy_if(std::begin(kRatioTicks), std::end(kRatioTicks), std::back_inserter(ticks),
                   [this](double value) { return value >= low_ && value <= high_; });
      return ticks;
    }
    return round_ticks(low_, high_, kTicksAbout);
  }

 private:
  void include(double value) {
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  bool logarithmic_;
  double low_;
  double high_;
};

class DotPlot {
 public:
  DotPlot(const std::string& title, const std::vector<DotPanel>& panels) {
    for (const DotPanel& panel : panels) {
      for (const DotRow& row : panel.rows) {
        for (const DotSeries& series : row.series) {
          if (std::find(labels_.begin(), labels_.end(), series.label) == labels_.end()) labels_.push_back(series.label);
        }
      }
    }
    canvas_.header(16, title, labels_);
  }

  void panel(const DotPanel& panel) {
    const Axis axis(panel);
    const double top = y_ + kTop;
    const double bottom = y_ + panel_height(panel) - kBottom;
    canvas_.text({16, y_ + 20}, Anchor::start, 14, panel.title);
    for (const double tick : axis.ticks()) {
      const double x = axis.x_of(tick);
      canvas_.line({x, top}, {x, bottom}, Ink::grid);
      canvas_.text({x, bottom + 18}, Anchor::middle, 12, fmt::format("{:g}", std::abs(tick) < 1e-12 ? 0 : tick));
    }
    canvas_.line({axis.x_of(panel.reference), top}, {axis.x_of(panel.reference), bottom}, Ink::axis);
    canvas_.line({kLeft, bottom}, {kLeft + kWidth, bottom}, Ink::axis);
    canvas_.text({kLeft + kWidth / 2, bottom + 38}, Anchor::middle, 13, panel.x_label);
    canvas_.text({kLeft + kWidth + 12, y_ + 20}, Anchor::start, 12, "median");
    y_ = top;
    for (const DotRow& row : panel.rows) draw(row, axis);
    y_ = bottom + kBottom;
  }

  [[nodiscard]] std::string finish() const { return canvas_.finish(kLeft + kWidth + kRight, y_); }

 private:
  void draw(const DotRow& row, const Axis& axis) {
    const double height = row_height(row);
    canvas_.text({kLeft - 12, y_ + height / 2 + 4}, Anchor::end, 13, row.label);
    if (row.aim) canvas_.line({axis.x_of(*row.aim), y_ + 3}, {axis.x_of(*row.aim), y_ + height - 3}, Ink::mark);
    double y = y_ + kRowGap / 2 + kSeriesHeight / 2;
    for (const DotSeries& series : row.series) {
      draw(series, y, axis);
      y += kSeriesHeight;
    }
    y_ += height;
  }

  void draw(const DotSeries& series, double y, const Axis& axis) {
    if (series.values.empty()) return;
    const auto number =
        static_cast<std::size_t>(std::find(labels_.begin(), labels_.end(), series.label) - labels_.begin());
    for (const double value : series.values) canvas_.dot(number, {axis.x_of(value), y}, 4);
    const double middle = median(series.values);
    canvas_.curve(number, {{axis.x_of(middle), y - 8}, {axis.x_of(middle), y + 8}});
    canvas_.text({kLeft + kWidth + 12, y + 4}, Anchor::start, 12, fmt::format("{:.2f}", middle));
  }

  std::vector<std::string> labels_;
  SvgCanvas canvas_;
  double y_ = SvgCanvas::kHeaderHeight;  // top of the next thing drawn
};

}  // namespace

double median(std::vector<double> values) {
  VERIFY(!values.empty());
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::string dot_plot(const std::string& title, const std::vector<DotPanel>& panels) {
  DotPlot plot(title, panels);
  for (const DotPanel& panel : panels) {
    if (has_values(panel)) plot.panel(panel);
  }
  return plot.finish();
}

}  // namespace starling::plot
