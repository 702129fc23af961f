#include "coordinator/web/day_chart.h"

#include <fmt/core.h>

#include <algorithm>

#include "coordinator/web/html.h"
#include "coordinator/web/loss_curve.h"

namespace starling::web {
namespace {

constexpr std::int64_t kMsPerDay = 86'400'000;
constexpr int kLabels = 4;
constexpr double kGap = 0.2;  // of a day's width

std::string date_of(std::int64_t day) { return utc({day * kMsPerDay}).substr(0, 10); }

std::string table(const std::vector<db::DayTotals>& days) {
  std::string html =
      "<details><summary>These figures as a table</summary><table class=\"plain\"><thead><tr><th scope=\"col\">Day</th>"
      "<th scope=\"col\">Credit</th></tr></thead><tbody>";
  for (auto day = days.rbegin(); day != days.rend(); ++day) {
    html += fmt::format("<tr><td>{}</td><td>{}</td></tr>", date_of(day->day), short_number(credit_of(day->earned)));
  }
  return html + "</tbody></table></details>\n";
}

}  // namespace

std::string day_chart(const std::vector<db::DayTotals>& days, int count, WallTime now) {
  const std::int64_t today = now.unix_ms / kMsPerDay;
  const std::int64_t first = today - count + 1;
  double most = 0;
  double sum = 0;
  for (const db::DayTotals& day : days) {
    most = std::max(most, credit_of(day.earned));
    sum += credit_of(day.earned);
  }
  if (most <= 0) return "";
  const Axis axis = axis_for(0, most, kLabels);
  const double width = kChartWidth / count;
  std::string bars;
  for (const db::DayTotals& day : days) {
    if (day.day < first || day.day > today) continue;
    const double height = credit_of(day.earned) / axis.last() * kChartHeight;
    bars += fmt::format("<rect class=\"bar\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>",
                        (static_cast<double>(day.day - first) + kGap / 2) * width, kChartHeight - height,
                        width * (1 - kGap), height);
  }
  return fmt::format(
      "<section aria-labelledby=\"days\">\n<h2 id=\"days\">Day by day</h2>\n<p class=\"what\">Credit of each of the "
      "last "
      "{0} days.</p>\n<div class=\"chart\"><div class=\"ys\" aria-hidden=\"true\">{1}</div>"
      "<svg viewBox=\"0 0 {2} {3}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{4} credit in the last {0} "
      "days, {5} on the best of them\">{6}{7}</svg>"
      "<div class=\"xs\" aria-hidden=\"true\"><span>{8}</span><span>today</span></div></div>\n{9}</section>\n",
      count, axis_labels(axis, true), kChartWidth, kChartHeight, short_number(sum), short_number(most),
      grid_lines(axis), bars, date_of(first), table(days));
}

}  // namespace starling::web
