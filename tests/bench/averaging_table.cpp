#include "tests/bench/averaging_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "shared/base/files.h"

namespace starling::bench {
namespace {

struct Row {
  std::string name;
  AveragingOptions options;
  std::map<std::string, double> aims{};
  std::map<std::string, double> least{};
};

constexpr std::int64_t kMi = 1 << 20;
constexpr double kLoopbackCpu = 1.2, kShapedCpu = 3;  // CPU seconds per GB of vector and peer
constexpr double kSlowPeerTime = 3;                   // seconds, for 4 Mi floats
constexpr double kExtraMemory = 1.25;                 // relative to the vector
constexpr double kKillRecovery = 2;                   // seconds

std::vector<Row> links_rows(const AveragingOptions& options) {
  struct Setting {
    const char* name;
    const char* links;
    double ratio;
    double loss_percent = 0;
    const char* congestion = "";
    double rest_s = 0;
  };
  constexpr Setting kSettings[] = {
      {"4×100", "100:100:10x4", 1.15},
      {"4×100, rested for 5 s", "100:100:10x4", 1.15, 0, "", 5},
      {"8×100", "100:100:10x8", 1.15},
      {"2×200+2×50", "200:200:10x2,50:50:10x2", 1.25},
      {"4×200+4×50", "200:200:10x4,50:50:10x4", 1.25},
      {"2×200+4×100+2×50", "200:200:10x2,100:100:10x4,50:50:10x2", 1.25},
      {"4×100, cubic, 0.1 % loss", "100:100:10x4", 1.3, 0.1, "cubic"},
      {"4×100, no delay", "100x4", 1.08},
  };
  std::vector<Row> rows;
  for (const Setting& setting : kSettings) {
    Row row{setting.name, options, {{"ratio_to_bound", setting.ratio}, {"cpu_s_per_gb", kShapedCpu}}};
    row.options.links = setting.links;
    row.options.loss_percent = setting.loss_percent;
    row.options.congestion = setting.congestion;
    if (setting.rest_s > 0) row.options.rest_s = setting.rest_s;
    rows.push_back(row);
  }
  Row slow{"3×100+1×10", options, {{"time_s", kSlowPeerTime * static_cast<double>(options.floats) / (4 * kMi)}}};
  slow.options.links = "100:100:10x3,10:10:10";
  rows.push_back(slow);
  return rows;
}

std::vector<Row> loopback_rows(const AveragingOptions& options) {
  std::vector<Row> rows;
  for (const std::string codec : {"fp32", "fp16"}) {
    for (const int peers : {4, 8}) {
      for (const std::int64_t floats : {16 * kMi, 64 * kMi}) {
        Row row{fmt::format("{} peers, {} Mi floats, {}", peers, floats / kMi, codec), options, {}};
        row.options.peers = peers;
        row.options.floats = floats;
        row.options.codec = codec;
        row.aims = {{"ratio_to_gloo", codec == "fp32" ? 1.8 : 1.2}, {"cpu_s_per_gb", kLoopbackCpu}};
        rows.push_back(row);
      }
    }
  }
  return rows;
}

// One averaging three times: without a bound on contributions, with it, and around a center, which takes a vector more.
std::vector<Row> bound_rows(const AveragingOptions& options) {
  std::vector<Row> rows;
  for (const char* const aggregation : {"mean", "clipped", "centered-clip"}) {
    Row row{fmt::format("{} peers, {}", options.peers, aggregation), options, {}};
    row.options.aggregation = aggregation;
    rows.push_back(row);
  }
  return rows;
}

std::vector<Row> fault_rows(const AveragingOptions& options) {
  struct Setting {
    const char* name;
    const char* fault;
    const char* links;
    std::int64_t floats;
  };
  constexpr Setting kSettings[] = {
      {"kill, 8 on loopback", "kill", "", 4 * kMi}, {"kill, 8×100", "kill", "100:100:10x8", 4 * kMi},
      {"stop, 8 on loopback", "stop", "", 4 * kMi}, {"cut, 6×100", "cut", "100:100:10x6", kMi},
      {"deaf, 6×100", "deaf", "100:100:10x6", kMi}, {"mute, 6×100", "mute", "100:100:10x6", kMi}};
  std::vector<Row> rows;
  for (const Setting& setting : kSettings) {
    Row row{setting.name, options, {}};
    row.options.peers = 8;
    row.options.fault = setting.fault;
    row.options.links = setting.links;
    row.options.floats = setting.floats;
    rows.push_back(row);
  }
  return rows;
}

// Every value must be that of the survivors in every round; a dead process breaks its links, so its group does not wait
// for silence to be noticed.
void expect_recovery(Row& row) {
  row.aims = {{"expelled", 0}, {"victims_deceived", 0}};
  if (row.options.fault == "kill") row.aims["recovery_s"] = kKillRecovery;
  row.least = {{"values_correct", 1}, {"survivors_identical", 1}, {"complete_part", 1}};
}

// Without a fault, everybody must have every round's result, including the first ones'.
void expect_calm(Row& row) {
  row.aims["expelled"] = 0;
  row.aims["extra_memory_ratio"] = kExtraMemory + (row.options.aggregation == "centered-clip" ? 1 : 0);
  row.least = {{"values_correct", 1}, {"survivors_identical", 1}};
}

std::vector<Row> rows_of(const AveragingArguments& arguments) {
  std::vector<Row> rows;
  if (arguments.table == "links") rows = links_rows(arguments.options);
  if (arguments.table == "loopback") rows = loopback_rows(arguments.options);
  if (arguments.table == "bound") rows = bound_rows(arguments.options);
  for (Row& row : rows) expect_calm(row);
  if (!rows.empty()) return rows;
  if (arguments.table == "blows") rows = fault_rows(arguments.options);
  for (const std::string& links : arguments.links) {
    rows.push_back({links, arguments.options});
    rows.back().options.links = links;
  }
  if (rows.empty()) rows.push_back({"loopback", arguments.options});
  for (Row& row : rows) {
    if (!row.options.fault.empty()) expect_recovery(row);
  }
  return rows;
}

Result<BenchResult> measure(const Row& row) {
  STARLING_ASSIGN(BenchResult result, run_averaging_bench(row.options));
  result.aims = row.aims;
  result.least = row.least;
  return result;
}

BenchResult not_measured(const Row& row, const Error& why) {
  BenchResult result;
  result.problem = why.message;
  result.settings["peers"] = std::to_string(row.options.peers);
  return result;
}

// The worst value of the rows: the largest, but the smallest of some figures.
double worst(const std::string& figure, double one, double other) {
  if (!std::isfinite(one)) return other;
  if (!std::isfinite(other)) return one;
  const bool high_is_good = figure == "values_correct" || figure == "survivors_identical" || figure == "complete_part";
  return high_is_good ? std::min(one, other) : std::max(one, other);
}

// Joins two passes of one row. A figure with a value for each round is the median of all rounds; any other is the worse
// of the two.
BenchResult both_passes(BenchResult row, const BenchResult& more) {
  for (const auto& [figure, values] : more.series) {
    std::vector<double>& all = row.series[figure];
    all.insert(all.end(), values.begin(), values.end());
  }
  for (const auto& [figure, value] : more.figures) {
    const auto of_rounds = row.series.find(figure);
    const double before = row.figures.try_emplace(figure, value).first->second;
    row.figures[figure] = of_rounds != row.series.end() ? median(of_rounds->second) : worst(figure, before, value);
  }
  return row;
}

void tell(const Row& row, const Result<BenchResult>& measured) {
  fmt::print(stderr, "{}\n", measured.ok() ? to_text(row.name, *measured) : row.name + ": " + measured.error().message);
}

BenchResult table_of(const AveragingArguments& arguments, std::vector<BenchResult> rows) {
  BenchResult table;
  for (const BenchResult& row : rows) {
    for (const auto& [figure, value] : row.figures) {
      const auto [at, added] = table.figures.try_emplace(figure, value);
      if (!added) at->second = worst(figure, at->second, value);
    }
  }
  table.settings = {{"table", arguments.table.empty() ? "links as given" : arguments.table},
                    {"passes", std::to_string(arguments.passes)},
                    {"rounds", std::to_string(arguments.options.rounds)}};
  table.rows = std::move(rows);
  return table;
}

void append_row(const std::string& label, const BenchResult& row, const std::string& figure, plot::DotPanel& panel) {
  const auto ours = row.series.find(figure);
  if (ours == row.series.end()) return;
  plot::DotRow drawn{label, {{"Starling", ours->second}}, {}};
  const auto gloo = row.series.find("gloo_" + figure);
  if (gloo != row.series.end()) drawn.series.push_back({"Gloo", gloo->second});
  if (const auto aim = row.aims.find(figure); aim != row.aims.end()) drawn.aim = aim->second;
  panel.rows.push_back(std::move(drawn));
}

std::string label_of(const BenchResult& row) {
  if (!row.name.empty()) return row.name;
  const auto links = row.settings.find("links");
  return links == row.settings.end() ? row.settings.at("peers") + " peers" : links->second;
}

}  // namespace

Result<BenchResult> run_averaging(const AveragingArguments& arguments) {
  const std::vector<Row> rows = rows_of(arguments);
  std::vector<BenchResult> results(rows.size());
  for (int pass = 1; pass <= arguments.passes; ++pass) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!results[i].problem.empty()) continue;
      auto measured = measure(rows[i]);
      const bool nothing_yet = pass == 1 && i == 0;  // an error such as: needs root
      if (!measured.ok() && (nothing_yet || rows.size() == 1)) return measured.error().prefixed(rows[i].name);
      if (rows.size() > 1) tell(rows[i], measured);
      BenchResult result = measured.ok() ? std::move(*measured) : not_measured(rows[i], measured.error());
      if (pass > 1 && result.problem.empty()) result = both_passes(std::move(results[i]), result);
      if (arguments.passes > 1) result.settings["passes"] = std::to_string(arguments.passes);
      if (rows.size() > 1) result.name = rows[i].name;
      results[i] = std::move(result);
    }
  }
  return rows.size() == 1 ? results.front() : table_of(arguments, std::move(results));
}

std::vector<std::string> averaging_columns(const AveragingArguments& arguments) {
  if (arguments.table == "blows" || !arguments.options.fault.empty()) {
    return {"time_s",        "recovery_s", "recovery_median_s", "survivors_identical", "values_correct",
            "complete_part", "blows"};
  }
  if (arguments.table == "loopback" || arguments.table == "bound") {
    return {"time_s",        "gloo_time_s",        "ratio_to_gloo",
            "cpu_s_per_gb",  "cipher_s_per_gb",    "gloo_cpu_s_per_gb",
            "cpu_ratio",     "extra_memory_ratio", "survivors_identical",
            "values_correct"};
  }
  return {"time_s",       "bound_s",         "ratio_to_bound",      "gloo_ratio_to_bound",
          "cpu_s_per_gb", "cipher_s_per_gb", "survivors_identical", "values_correct"};
}

std::string averaging_plot(const BenchResult& result) {
  plot::DotPanel struck{"A peer is struck in mid-round: how much later the others are done", "seconds", false, 0, {}};
  plot::DotPanel bound{
      "Shaped links: the bound is 1", "time of a round over the least that the links allow", true, 1, {}};
  plot::DotPanel gloo{"Loopback, over TLS: Gloo without encryption is 1", "time of a round over Gloo's", true, 1, {}};
  const std::vector<BenchResult> alone = {result};
  for (const BenchResult& row : result.rows.empty() ? alone : result.rows) {
    if (row.series.contains("recovery_s")) {
      append_row(label_of(row), row, "recovery_s", struck);
    } else if (row.series.contains("ratio_to_bound")) {
      append_row(label_of(row), row, "ratio_to_bound", bound);
    } else {
      append_row(label_of(row), row, "ratio_to_gloo", gloo);
    }
  }
  return plot::dot_plot("Averaging: each round a dot, medians, and what is aimed at (red)", {bound, gloo, struck});
}

}  // namespace starling::bench
