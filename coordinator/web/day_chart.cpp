#include "coordinator/web/day_chart.h"

#include <fmt/core.h>

#include <algorithm>

#include "coordinator/web/chart.h"
#include "coordinator/web/html.h"

namespace starling::web {
namespace {

constexpr std::int64_t kMsPerDay = 86'400'000;

}  // namespace

std::string day_chart(const std::vector<db::DayTotals>& days, int count, WallTime now) {
  const std::int64_t first = now.unix_ms / kMsPerDay - count + 1;
  std::vector<ChartPoint> points;
  for (int i = 0; i < count; ++i) points.push_back({first + i, 0});
  double most = 0;
  double sum = 0;
  for (const db::DayTotals& day : days) {
    if (day.day < first || day.day >= first + count) continue;
    const double credit = credit_of(day.earned);
    points[static_cast<std::size_t>(day.day - first)].y = credit;
    most = std::max(most, credit);
    sum += credit;
  }
  if (most <= 0) return "";
  return chart_section({.id = "days",
                        .title = "Day by day",
                        .what = fmt::format("Credit of each of the last {} days.", count),
                        .label = fmt::format("{} credit in the last {} days, {} on the best of them", short_number(sum),
                                             count, short_number(most)),
                        .y_name = "credit",
                        .over = Chart::Over::days,
                        .shape = Chart::Shape::bars,
                        .from_zero = true,
                        .places = places_for(most),
                        .points = std::move(points)});
}

}  // namespace starling::web
