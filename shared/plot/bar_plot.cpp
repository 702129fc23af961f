#include "shared/plot/bar_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "shared/plot/svg_canvas.h"

namespace starling::plot {
namespace {

// Pixels.
constexpr double kWidth = 480;  // length of the longest bar
constexpr double kLeft = 240;   // space for the labels
constexpr double kRight = 130;  // space for the notes
constexpr double kRow = 24, kBarHeight = 15, kBottom = 52;
constexpr int kTicksAbout = 6;

double length(const Bar& bar) { return std::accumulate(bar.parts.begin(), bar.parts.end(), 0.0); }

}  // namespace

std::string bar_plot(const BarPlot& plot) {
  SvgCanvas canvas;
  canvas.header(16, plot.title, plot.parts);
  double longest = 0;
  for (const Bar& bar : plot.bars) longest = std::max(longest, length(bar));
  const double scale = longest > 0 ? kWidth / longest : 0;
  const double top = SvgCanvas::kHeaderHeight;
  const double bottom = top + kRow * static_cast<double>(plot.bars.size());
  if (longest > 0) {
    for (const double tick : round_ticks(0, longest, kTicksAbout)) {
      canvas.line({kLeft + scale * tick, top}, {kLeft + scale * tick, bottom}, Ink::grid);
      canvas.text({kLeft + scale * tick, bottom + 18}, Anchor::middle, 12, fmt::format("{:g}", tick));
    }
  }
  double y = top + (kRow - kBarHeight) / 2;
  for (const Bar& bar : plot.bars) {
    canvas.text({kLeft - 12, y + kBarHeight - 3}, Anchor::end, 13, bar.label);
    double x = kLeft;
    for (std::size_t part = 0; part < bar.parts.size(); ++part) {
      const double end = x + scale * bar.parts[part];
      canvas.box(part, {x, y}, {end, y + kBarHeight});
      x = end;
    }
    canvas.text({x + 8, y + kBarHeight - 3}, Anchor::start, 12, bar.note);
    y += kRow;
  }
  canvas.line({kLeft, top}, {kLeft, bottom}, Ink::axis);
  canvas.text({kLeft + kWidth / 2, bottom + 38}, Anchor::middle, 13, plot.x_label);
  return canvas.finish(kLeft + kWidth + kRight, bottom + kBottom);
}

}  // namespace starling::plot
