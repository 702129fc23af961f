#include "tests/plots/curve_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "shared/plot/svg_canvas.h"

namespace starling::plot {
namespace {

// Pixels.
constexpr double kPanelWidth = 420;
constexpr double kPanelHeight = 300;
constexpr double kLeft = 64, kRight = 16, kTop = 34, kBottom = 44;  // margins of a panel around its axes
constexpr std::size_t kPanelsAcross = 2;
constexpr std::size_t kTicksMax = 10;

class CurvePlot {
 public:
  CurvePlot(const std::vector<PlotPanel>& panels, const PlotOptions& options) : options_(options) {
    for (const PlotPanel& panel : panels) {
      for (const PlotCurve& curve : panel.curves) {
        if (std::find(labels_.begin(), labels_.end(), curve.label) == labels_.end()) labels_.push_back(curve.label);
      }
    }
    canvas_.header(kLeft, options.title, labels_);
  }

  void panel(const PlotPanel& panel, double x, double y) {
    left_ = x + kLeft;
    top_ = y + kTop;
    std::size_t longest = 2;
    for (const PlotCurve& curve : panel.curves) longest = std::max(longest, curve.values.size());
    steps_ = static_cast<double>(longest - 1);
    canvas_.text({left_ + kWidth / 2, top_ - 10}, Anchor::middle, 14, panel.title);
    axes(longest - 1);
    for (const PlotCurve& curve : panel.curves) draw(curve);
  }

  [[nodiscard]] const SvgCanvas& canvas() const { return canvas_; }

 private:
  static constexpr double kWidth = kPanelWidth - kLeft - kRight;
  static constexpr double kHeight = kPanelHeight - kTop - kBottom;

  [[nodiscard]] double x_of(double step) const { return left_ + kWidth * step / steps_; }
  [[nodiscard]] double y_of(double value) const {
    const double lowest = -options_.decades;
    const double exponent = value > 0 ? std::clamp(std::log10(value), lowest, 0.0) : lowest;
    return top_ + kHeight * exponent / lowest;
  }

  void axes(std::size_t steps) {
    for (int decade = 0; decade <= options_.decades; decade += 3) {
      const double y = y_of(std::pow(10.0, -decade));
      canvas_.line({left_, y}, {left_ + kWidth, y}, Ink::grid);
      canvas_.text({left_ - 6, y + 4}, Anchor::end, 12, decade == 0 ? "1" : fmt::format("1e-{}", decade));
    }
    const std::size_t every = (steps + kTicksMax - 1) / kTicksMax;
    for (std::size_t step = 0; step <= steps; step += every) {
      const double x = x_of(static_cast<double>(step));
      canvas_.line({x, top_ + kHeight}, {x, top_ + kHeight + 4}, Ink::axis);
      canvas_.text({x, top_ + kHeight + 18}, Anchor::middle, 12, fmt::format("{}", step));
    }
    canvas_.line({left_, top_}, {left_, top_ + kHeight}, Ink::axis);
    canvas_.line({left_, top_ + kHeight}, {left_ + kWidth, top_ + kHeight}, Ink::axis);
    canvas_.text({left_ + kWidth / 2, top_ + kHeight + 36}, Anchor::middle, 13, options_.x_label);
    canvas_.upward_text({left_ - 48, top_ + kHeight / 2}, 13, options_.y_label);
  }

  void draw(const PlotCurve& curve) {
    std::vector<Point> points;
    for (std::size_t step = 0; step < curve.values.size(); ++step) {
      points.push_back({x_of(static_cast<double>(step)), y_of(curve.values[step])});
    }
    const auto series = std::find(labels_.begin(), labels_.end(), curve.label) - labels_.begin();
    canvas_.curve(static_cast<std::size_t>(series), points);
  }

  const PlotOptions& options_;
  std::vector<std::string> labels_;
  SvgCanvas canvas_;
  double left_ = 0, top_ = 0, steps_ = 1;  // origin and steps of the panel being drawn
};

}  // namespace

std::string curve_plot(const std::vector<PlotPanel>& panels, const PlotOptions& options) {
  CurvePlot plot(panels, options);
  for (std::size_t k = 0; k < panels.size(); ++k) {
    const std::size_t row = k / kPanelsAcross;
    plot.panel(panels[k], kPanelWidth * static_cast<double>(k % kPanelsAcross),
               SvgCanvas::kHeaderHeight + kPanelHeight * static_cast<double>(row));
  }
  const double rows = std::ceil(static_cast<double>(panels.size()) / kPanelsAcross);
  return plot.canvas().finish(kPanelWidth * kPanelsAcross, SvgCanvas::kHeaderHeight + kPanelHeight * rows);
}

}  // namespace starling::plot
