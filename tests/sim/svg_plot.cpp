#include "tests/sim/svg_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace starling::sim {
namespace {

// Pixels.
constexpr double kPanelWidth = 420;
constexpr double kPanelHeight = 300;
constexpr double kLeft = 64, kRight = 16, kTop = 34, kBottom = 44;  // of a panel, around its axes
constexpr double kHeader = 64;                                      // title and legend
constexpr std::size_t kPanelsAcross = 2;
constexpr std::size_t kTicksMax = 10;
// Okabe and Ito's colours: told apart by everybody.
constexpr std::string_view kColours[] = {"#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#000000"};

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else {
      out += c;
    }
  }
  return out;
}

struct Point {
  double x = 0;
  double y = 0;
};

class Svg {
 public:
  Svg(const std::vector<PlotPanel>& panels, const PlotOptions& options) : options_(options) {
    for (const PlotPanel& panel : panels) {
      for (const PlotCurve& curve : panel.curves) {
        if (std::find(labels_.begin(), labels_.end(), curve.label) == labels_.end()) labels_.push_back(curve.label);
      }
    }
  }

  void header() {
    text({kLeft, 24}, "start", 17, options_.title);
    double x = kLeft;
    for (const std::string& label : labels_) {
      line({x, 46}, {x + 22, 46}, colour(label), 2.5);
      text({x + 28, 50}, "start", 13, label);
      x += 44 + 7.5 * static_cast<double>(label.size());
    }
  }

  void panel(const PlotPanel& panel, double x, double y) {
    left_ = x + kLeft;
    top_ = y + kTop;
    std::size_t longest = 2;
    for (const PlotCurve& curve : panel.curves) longest = std::max(longest, curve.values.size());
    steps_ = static_cast<double>(longest - 1);
    text({left_ + kWidth / 2, top_ - 10}, "middle", 14, panel.title);
    axes(longest - 1);
    for (const PlotCurve& curve : panel.curves) draw(curve);
  }

  [[nodiscard]] const std::string& str() const { return out_; }

 private:
  static constexpr double kWidth = kPanelWidth - kLeft - kRight;
  static constexpr double kHeight = kPanelHeight - kTop - kBottom;

  [[nodiscard]] double x_of(double step) const { return left_ + kWidth * step / steps_; }
  [[nodiscard]] double y_of(double value) const {
    const double lowest = -options_.decades;
    const double exponent = value > 0 ? std::clamp(std::log10(value), lowest, 0.0) : lowest;
    return top_ + kHeight * exponent / lowest;
  }
  [[nodiscard]] std::string_view colour(const std::string& label) const {
    const auto at = static_cast<std::size_t>(std::find(labels_.begin(), labels_.end(), label) - labels_.begin());
    return kColours[at % std::size(kColours)];
  }

  void axes(std::size_t steps) {
    for (int decade = 0; decade <= options_.decades; decade += 3) {
      const double y = y_of(std::pow(10.0, -decade));
      line({left_, y}, {left_ + kWidth, y}, "#d8d8d8", 1);
      text({left_ - 6, y + 4}, "end", 12, decade == 0 ? "1" : fmt::format("1e-{}", decade));
    }
    const std::size_t every = (steps + kTicksMax - 1) / kTicksMax;
    for (std::size_t step = 0; step <= steps; step += every) {
      const double x = x_of(static_cast<double>(step));
      line({x, top_ + kHeight}, {x, top_ + kHeight + 4}, "#404040", 1);
      text({x, top_ + kHeight + 18}, "middle", 12, fmt::format("{}", step));
    }
    line({left_, top_}, {left_, top_ + kHeight}, "#404040", 1);
    line({left_, top_ + kHeight}, {left_ + kWidth, top_ + kHeight}, "#404040", 1);
    text({left_ + kWidth / 2, top_ + kHeight + 36}, "middle", 13, options_.x_label);
    fmt::format_to(std::back_inserter(out_),
                   "<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\" text-anchor=\"middle\" "
                   "font-size=\"13\">{}</text>\n",
                   left_ - 48, top_ + kHeight / 2, escaped(options_.y_label));
  }

  void draw(const PlotCurve& curve) {
    fmt::format_to(std::back_inserter(out_), "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"2\" points=\"",
                   colour(curve.label));
    for (std::size_t step = 0; step < curve.values.size(); ++step) {
      fmt::format_to(std::back_inserter(out_), "{:.1f},{:.1f} ", x_of(static_cast<double>(step)),
                     y_of(curve.values[step]));
    }
    out_ += "\"/>\n";
  }

  void line(Point from, Point to, std::string_view stroke, double width) {
    fmt::format_to(std::back_inserter(out_),
                   "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
                   "stroke-width=\"{}\"/>\n",
                   from.x, from.y, to.x, to.y, stroke, width);
  }
  void text(Point at, std::string_view anchor, int size, std::string_view what) {
    fmt::format_to(std::back_inserter(out_),
                   "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" font-size=\"{}\">{}</text>\n", at.x, at.y,
                   anchor, size, escaped(what));
  }

  const PlotOptions& options_;
  std::vector<std::string> labels_;
  std::string out_;
  double left_ = 0, top_ = 0, steps_ = 1;  // of the panel that is being drawn
};

}  // namespace

std::string svg_plot(const std::vector<PlotPanel>& panels, const PlotOptions& options) {
  Svg svg(panels, options);
  svg.header();
  for (std::size_t k = 0; k < panels.size(); ++k) {
    const std::size_t row = k / kPanelsAcross;
    svg.panel(panels[k], kPanelWidth * static_cast<double>(k % kPanelsAcross),
              kHeader + kPanelHeight * static_cast<double>(row));
  }
  const double rows = std::ceil(static_cast<double>(panels.size()) / kPanelsAcross);
  const double width = kPanelWidth * kPanelsAcross;
  const double height = kHeader + kPanelHeight * rows;
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
             "{1:.0f}\" font-family=\"sans-serif\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
             width, height) +
         svg.str() + "</svg>\n";
}

}  // namespace starling::sim
