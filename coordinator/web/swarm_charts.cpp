#include "coordinator/web/swarm_charts.h"

#include <fmt/core.h>

#include <algorithm>

#include "coordinator/web/chart.h"
#include "coordinator/web/html.h"

namespace starling::web {
namespace {

// The sums over all groups of a round.
struct Round {
  RoundIndex round = 0;
  std::int64_t ended_ms = 0;
  SampleCount samples = 0;
  std::int64_t computers = 0;
};

std::vector<Round> rounds_of(const std::vector<db::RoundRecord>& newest_first) {
  std::vector<Round> rounds;
  for (auto record = newest_first.rbegin(); record != newest_first.rend(); ++record) {
    if (rounds.empty() || rounds.back().round != record->round) rounds.push_back({record->round, 0, 0, 0});
    Round& round = rounds.back();
    round.ended_ms = std::max(round.ended_ms, record->decided_at.unix_ms);
    round.samples += record->samples;
    round.computers += record->survivors;
  }
  return rounds;
}

struct Series {
  std::vector<ChartPoint> speed;
  std::vector<ChartPoint> computers;
};

// The first round only serves as the start time of the second.
Series series_of(const std::vector<Round>& rounds) {
  Series series;
  std::size_t begin = 1;
  for (const std::size_t last : spread(rounds.size() - 1, kSwarmPointsMax)) {
    const std::size_t end = last + 2;
    SampleCount samples = 0;
    std::int64_t computers = 0;
    for (std::size_t i = begin; i < end; ++i) {
      samples += rounds[i].samples;
      computers += rounds[i].computers;
    }
    const RoundIndex round = rounds[end - 1].round;
    const std::int64_t ms = rounds[end - 1].ended_ms - rounds[begin - 1].ended_ms;
    if (ms > 0) series.speed.push_back({round, static_cast<double>(samples) * 1000 / static_cast<double>(ms)});
    series.computers.push_back({round, static_cast<double>(computers) / static_cast<double>(end - begin)});
    begin = end;
  }
  return series;
}

std::string chart_of(Chart chart, std::vector<ChartPoint> points, std::string_view what) {
  if (points.size() < 2) return "";
  const auto most = std::max_element(points.begin(), points.end(),
                                     [](const ChartPoint& a, const ChartPoint& b) { return a.y < b.y; });
  chart.from_zero = true;
  chart.places = places_for(most->y);
  chart.label = fmt::format("{} from round {} to round {}: {} at the end, {} at most", what, grouped(points.front().x),
                            grouped(points.back().x), short_number(points.back().y), short_number(most->y));
  chart.points = std::move(points);
  return chart_section(chart);
}

}  // namespace

std::string swarm_charts(const std::vector<db::RoundRecord>& newest_first) {
  const std::vector<Round> rounds = rounds_of(newest_first);
  if (rounds.size() < 3) return "";
  Series series = series_of(rounds);
  const std::string speed = chart_of({.id = "speed",
                                      .title = "How fast it goes",
                                      .what = "Samples a second that all computers trained on together.",
                                      .label = {},
                                      .y_name = "samples a second",
                                      .points = {}},
                                     std::move(series.speed), "Samples a second");
  const std::string computers = chart_of({.id = "computers",
                                          .title = "Who takes part",
                                          .what = "Computers that finished a round together.",
                                          .label = {},
                                          .y_name = "computers",
                                          .points = {}},
                                         std::move(series.computers), "Computers in a round");
  return fmt::format("<div class=\"two\">\n{}{}</div>\n", speed, computers);
}

}  // namespace starling::web
