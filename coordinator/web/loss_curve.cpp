#include "coordinator/web/loss_curve.h"

#include <fmt/core.h>

#include "coordinator/web/chart.h"
#include "coordinator/web/html.h"

namespace starling::web {

std::string loss_curve(const std::vector<db::Evaluation>& evaluations) {
  if (evaluations.size() < 2 || evaluations.front().round == evaluations.back().round) return "";
  const db::Evaluation& first = evaluations.front();
  const db::Evaluation& last = evaluations.back();
  Chart chart{.id = "curve",
              .title = "What it has learned",
              .what = "Bits it needs for a byte of text it has never seen; lower is better.",
              .label = fmt::format("Held-out bits per byte went from {:.3f} at round {} to {:.3f} at round {}",
                                   first.bits_per_byte, grouped(first.round), last.bits_per_byte, grouped(last.round)),
              .y_name = "bits per byte",
              .places = 4,
              .points = {}};
  for (const std::size_t i : spread(evaluations.size(), kCurvePointsMax)) {
    chart.points.push_back({evaluations[i].round, evaluations[i].bits_per_byte});
  }
  return chart_section(chart);
}

}  // namespace starling::web
