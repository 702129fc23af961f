#include "tests/bench/plan_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

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
  double step_s = 0;  // of computing, beside which pairs mix; 0: an averaging alone
};
constexpr std::int64_t kMi = 1 << 20;
// Lines of homes. The switch in user space and eight peers share this machine's cores: more than 400 Mbit/s in all
// would measure these.
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
};
constexpr double kErrorMax = 0.1;

// As a benchmark's peers tell the planner: equally fast, with so long to compute that nobody is relieved of anything.
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
  method.codec = options.codec;
  method.error_feedback = true;
  method.mixing_members = 2;
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
  const double predicted = setting.step_s > 0 ? std::max(setting.step_s, forecast.mixing_s) : forecast.averaging_s;
  row.figures["predicted_s"] = predicted;
  row.figures["error"] = std::abs(predicted / row.figures["time_s"] - 1);
  row.aims["error"] = kErrorMax;
  return row;
}

// Of the settings with these links, the one with the least of a figure.
std::string least(const BenchResult& table, const std::string& links, const std::string& figure) {
  const BenchResult* best = nullptr;
  for (const BenchResult& row : table.rows) {
    if (row.settings.at("links") != links) continue;
    if (best == nullptr || row.figures.at(figure) < best->figures.at(figure)) best = &row;
  }
  return best == nullptr ? "" : best->name;
}

}  // namespace

Result<BenchResult> run_plan_check(const PlanCheckOptions& options) {
  BenchResult table;
  double worst = 0;
  std::set<std::string> kinds;
  for (const Setting& setting : kSettings) {
    auto row = check(setting, options.rounds);
    if (!row.ok()) return row.error().prefixed(setting.name);
    fmt::print(stderr, "{:<36} predicted {:.3f} s, measured {:.3f} s\n", row->name, row->figures["predicted_s"],
               row->figures["time_s"]);
    worst = std::max(worst, row->figures["error"]);
    kinds.insert(setting.links);
    table.rows.push_back(std::move(*row));
  }
  int wrong = 0;
  for (const std::string& links : kinds) {
    wrong += least(table, links, "predicted_s") == least(table, links, "time_s") ? 0 : 1;
  }
  table.figures = {{"error_worst", worst}, {"winners_wrong", wrong}};
  table.settings = {{"rounds", std::to_string(options.rounds)},
                    {"error_worst", fmt::format("{:.3f}", worst)},
                    {"winners_wrong", fmt::format("{} of {} kinds of links", wrong, kinds.size())}};
  return table;
}

std::vector<std::string> plan_check_columns() { return {"predicted_s", "time_s", "error"}; }

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
