#include "tests/bench/plan_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string_view>

#include "shared/swarm/runtime_model.h"
#include "tests/bench/averaging_bench.h"
#include "tests/netlab/link_spec.h"

namespace starling::bench {
namespace {

struct Setting {
  const char* name;
  const char* links;
  const char* codec;
  std::int64_t floats;
  // Time of computing with gossip of pairs meanwhile, or with averaging of all after it; 0: an averaging alone.
  double step_s = 0;
};
constexpr std::int64_t kMi = 1 << 20;
// Lines of homes. The switch in user space and eight peers share this machine's cores: more than 400 Mbit/s in all
// would measure the cores.
constexpr Setting kSettings[] = {
    {"4×50, fp32", "50:50:10x4", "fp32", 2 * kMi},
    {"4×50, fp16", "50:50:10x4", "fp16", 2 * kMi},
    {"4×50, int8", "50:50:10x4", "int8", 2 * kMi},
    {"2×100+2×25, fp32", "100:100:10x2,25:25:10x2", "fp32", 2 * kMi},
    {"2×100+2×25, fp16", "100:100:10x2,25:25:10x2", "fp16", 2 * kMi},
    {"4×20 up, 100 down, fp32", "20:100:15x4", "fp32", kMi},
    {"4×20 up, 100 down, int8", "20:100:15x4", "int8", kMi},
    {"8×25, fp32", "25:25:10x8", "fp32", kMi},
    {"4×100, pairs mix in steps of 1.2 s", "100:100:5x4", "fp32", 2'500'000, 1.2},
    {"4×100, pairs mix in steps of 0.5 s", "100:100:5x4", "fp32", 2'500'000, 0.5},
    // Computing takes as long as averaging: overlapping gains most here.
    {"8×25, pairs mix in steps of 3 s", "25:25:5x8", "fp32", 1'250'000, 3},
};
constexpr double kErrorMax = 0.1;
// At 8 workers on Ethernet all-reduce took 1.36 times as long (arXiv 2410.11998).
constexpr double kHiddenRatioMax = 1.1;
constexpr double kApartRatioMin = 0.9;
constexpr double kSpeedUpMin = 1.36;

// Predicts with the benchmark peers' inputs to the planner: equal speeds, and enough computing that no peer is relieved
// of work.
swarm::RoundForecast predict(const AveragingOptions& options, const std::vector<netlab::LinkSpec>& links) {
  constexpr double kMbit = 1e6 / 8;
  constexpr double kSamplesPerS = 1;
  std::vector<swarm::Host> hosts;
  for (const netlab::LinkSpec& link : links) {
    hosts.push_back({{link.up_mbit * kMbit, link.down_mbit * kMbit, true}, kSamplesPerS, to_seconds(link.delay), 0});
  }
  swarm::Method method;
  method.vector_floats = static_cast<double>(options.floats);
  method.round_samples = options.batch_s * kSamplesPerS * static_cast<double>(hosts.size());
  method.codec = wire::codec_from_name(options.codec).value();
  method.error_feedback = true;
  method.gossip_members = 2;
  return swarm::predict_round(hosts, method);
}

Result<BenchResult> check(const Setting& setting, int rounds) {
  AveragingOptions options;
  options.links = setting.links;
  options.codec = setting.codec;
  options.floats = setting.floats;
  options.rounds = rounds;
  options.step_s = setting.step_s;
  STARLING_ASSIGN(const std::vector<netlab::LinkSpec> links, netlab::parse_links(options.links));
  STARLING_ASSIGN(BenchResult row, run_averaging_bench(options));
  row.name = setting.name;
  const swarm::RoundForecast forecast = predict(options, links);
  const double predicted = setting.step_s > 0 ? std::max(setting.step_s, forecast.gossip_s) : forecast.averaging_s;
  row.figures["predicted_s"] = predicted;
  row.figures["error"] = std::abs(predicted / row.figures["time_s"] - 1);
  row.aims["error"] = kErrorMax;
  if (setting.step_s > 0) {
    row.figures["apart_predicted_s"] = setting.step_s + forecast.averaging_s;
    row.aims["hidden_ratio"] = kHiddenRatioMax;
    row.least = {{"apart_ratio", kApartRatioMin}, {"speed_up", kSpeedUpMin}};
  }
  return row;
}

// A choice between ways to train over identical lines: the predicted and measured time of each.
struct Choice {
  std::vector<double> predicted_s;
  std::vector<double> measured_s;

  void add(double predicted, double measured) {
    predicted_s.push_back(predicted);
    measured_s.push_back(measured);
  }
  [[nodiscard]] bool right() const {
    const auto winner = [](const std::vector<double>& times) {
      return std::min_element(times.begin(), times.end()) - times.begin();
    };
    return winner(predicted_s) == winner(measured_s);
  }
};

// Choices between codecs, by lines, and between kinds of steps, by setting.
std::vector<Choice> choices(const std::vector<BenchResult>& rows) {
  std::map<std::string, Choice> between;
  for (const BenchResult& row : rows) {
    const bool steps = row.figures.contains("apart_s");
    Choice& choice = between[steps ? row.name : row.settings.at("links")];
    choice.add(row.figures.at("predicted_s"), row.figures.at("time_s"));
    if (steps) choice.add(row.figures.at("apart_predicted_s"), row.figures.at("apart_s"));
  }
  std::vector<Choice> found;
  for (auto& [name, choice] : between) {
    if (choice.predicted_s.size() > 1) found.push_back(std::move(choice));
  }
  return found;
}

}  // namespace

Result<BenchResult> run_plan_check(const PlanCheckOptions& options) {
  BenchResult table;
  double worst = 0;
  for (const Setting& setting : kSettings) {
    if (std::string_view(setting.name).find(options.only) == std::string_view::npos) continue;
    auto row = check(setting, options.rounds);
    if (!row.ok()) return row.error().prefixed(setting.name);
    fmt::print(stderr, "{:<36} predicted {:.3f} s, measured {:.3f} s\n", row->name, row->figures["predicted_s"],
               row->figures["time_s"]);
    worst = std::max(worst, row->figures["error"]);
    table.rows.push_back(std::move(*row));
  }
  const std::vector<Choice> made = choices(table.rows);
  const auto wrong = std::count_if(made.begin(), made.end(), [](const Choice& choice) { return !choice.right(); });
  table.figures = {{"error_worst", worst}, {"winners_wrong", static_cast<double>(wrong)}};
  table.settings = {{"rounds", std::to_string(options.rounds)},
                    {"error_worst", fmt::format("{:.3f}", worst)},
                    {"winners_wrong", fmt::format("{} of {}", wrong, made.size())}};
  return table;
}

std::vector<std::string> plan_check_columns() {
  return {"predicted_s",       "time_s",  "error",        "mixing_s",    "averaging_s",
          "apart_predicted_s", "apart_s", "hidden_ratio", "apart_ratio", "speed_up"};
}

std::string plan_check_plot(const BenchResult& result) {
  plot::DotPanel panel{"An averaging, predicted before anybody has averaged, and measured", "seconds", false, 0, {}};
  for (const BenchResult& row : result.rows) {
    panel.rows.push_back({row.name,
                          {{"measured: each round, and the median", row.series.at("time_s")},
                           {"predicted", {row.figures.at("predicted_s")}}},
                          {}});
  }
  return plot::dot_plot("What starling-coordinator plan says, and what is", {panel});
}

}  // namespace starling::bench
