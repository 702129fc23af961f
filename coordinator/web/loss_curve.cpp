#include "coordinator/web/loss_curve.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "coordinator/web/html.h"

namespace starling::web {
namespace {

constexpr int kLabels = 5;
constexpr std::size_t kTableRows = 12;

struct Frame {
  Axis rounds;
  Axis values;
};

std::string axis_number(double number, double step) {
  const int places = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 6);
  return places == 0 ? grouped(std::llround(number)) : fmt::format("{:.{}f}", number, places);
}

double x_of(const Frame& frame, double round) {
  return (round - frame.rounds.first) / (frame.rounds.last() - frame.rounds.first) * kChartWidth;
}

double y_of(const Frame& frame, double value) {
  return (frame.values.last() - value) / (frame.values.last() - frame.values.first) * kChartHeight;
}

std::string table(const std::vector<db::Evaluation>& evaluations) {
  std::string html =
      "<details><summary>These figures as a table</summary><table class=\"plain\"><thead><tr><th scope=\"col\">Round"
      "</th><th scope=\"col\">Bits per byte</th></tr></thead><tbody>";
  for (const db::Evaluation& evaluation : thinned(evaluations, kTableRows)) {
    html += fmt::format("<tr><td>{}</td><td>{:.4f}</td></tr>", grouped(evaluation.round), evaluation.bits_per_byte);
  }
  return html + "</tbody></table></details>\n";
}

}  // namespace

std::string grid_lines(const Axis& values) {
  std::string html;
  for (int i = 0; i < values.count; ++i) {
    const double y = kChartHeight * i / (values.count - 1);
    html += fmt::format("<line class=\"grid\" x1=\"0\" x2=\"{0}\" y1=\"{1:.1f}\" y2=\"{1:.1f}\"/>", kChartWidth, y);
  }
  return html;
}

std::string axis_labels(const Axis& axis, bool downwards) {
  std::string html;
  for (int i = 0; i < axis.count; ++i) {
    const int at = downwards ? axis.count - 1 - i : i;
    html += fmt::format("<span>{}</span>", axis_number(axis.first + at * axis.step, axis.step));
  }
  return html;
}

Axis axis_for(double low, double high, int labels) {
  const double range = std::max(high - low, 1e-6 * std::max(1.0, std::fabs(high)));
  const double rough = range / std::max(1, labels - 1);
  const double power = std::pow(10, std::floor(std::log10(rough)));
  Axis axis;
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    axis.step = factor * power;
    if (axis.step >= rough * (1 - 1e-9)) break;
  }
  axis.first = std::floor(low / axis.step + 1e-9) * axis.step;
  axis.count = std::max(2, static_cast<int>(std::ceil((high - axis.first) / axis.step - 1e-9)) + 1);
  return axis;
}

std::vector<db::Evaluation> thinned(const std::vector<db::Evaluation>& evaluations, std::size_t count) {
  if (evaluations.size() <= count || count < 2) return evaluations;
  std::vector<db::Evaluation> kept;
  for (std::size_t i = 0; i < count; ++i) kept.push_back(evaluations[i * (evaluations.size() - 1) / (count - 1)]);
  return kept;
}

std::string loss_curve(const std::vector<db::Evaluation>& all) {
  if (all.size() < 2 || all.front().round == all.back().round) return "";
  const std::vector<db::Evaluation> evaluations = thinned(all, kCurvePointsMax);
  const auto by_value = [](const db::Evaluation& a, const db::Evaluation& b) {
    return a.bits_per_byte < b.bits_per_byte;
  };
  const auto [low, high] = std::minmax_element(evaluations.begin(), evaluations.end(), by_value);
  // The curve fills the width: its axis begins and ends with it, at whole rounds.
  const auto first = static_cast<double>(evaluations.front().round);
  const auto last = static_cast<double>(evaluations.back().round);
  const Frame frame{{first, last - first, 2}, axis_for(low->bits_per_byte, high->bits_per_byte, kLabels)};
  std::string points;
  for (const db::Evaluation& evaluation : evaluations) {
    points += fmt::format("{:.1f},{:.1f} ", x_of(frame, static_cast<double>(evaluation.round)),
                          y_of(frame, evaluation.bits_per_byte));
  }
  std::string html =
      "<section aria-labelledby=\"curve\">\n<h2 id=\"curve\">What it has learned</h2>\n<p class=\"what\">Bits it needs "
      "for a byte of text it has never seen; lower is better.</p>\n";
  html += fmt::format("<div class=\"chart\"><div class=\"ys\" aria-hidden=\"true\">{}</div>",
                      axis_labels(frame.values, true));
  html += fmt::format(
      "<svg viewBox=\"0 0 {0} {1}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"Held-out bits per byte went "
      "from {2:.3f} at round {3} to {4:.3f} at round {5}\">{6}",
      kChartWidth, kChartHeight, all.front().bits_per_byte, grouped(all.front().round), all.back().bits_per_byte,
      grouped(all.back().round), grid_lines(frame.values));
  html += fmt::format(
      "<polygon class=\"area\" points=\"0,{1} {2}{0},{1}\"/><polyline class=\"curve\" points=\"{2}\"/></svg>",
      kChartWidth, kChartHeight, points);
  html += fmt::format(
      "<div class=\"xs\" aria-hidden=\"true\"><span>round {}</span><span>round {}</span></div></div>\n{}</section>\n",
      grouped(evaluations.front().round), grouped(evaluations.back().round), table(all));
  return html;
}

}  // namespace starling::web
