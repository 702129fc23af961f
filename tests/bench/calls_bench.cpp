#include "tests/bench/calls_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "tests/bench/calls_measure.h"

namespace starling::bench {
namespace {

constexpr double kTimeMax = 1.25;     // times that of these experts inside one trainer
constexpr double kCpuPerGbMax = 1.5;  // seconds

Result<std::vector<BenchResult>> measure(const std::string& table, const CallsOptions& options) {
  if (table == "delays") return measure_delays(options);
  return table == "loopback" ? measure_loopback(options) : measure_volunteers(options);
}

BenchResult not_measured(const std::string& table, const Error& why) {
  BenchResult row;
  row.name = table;
  row.problem = why.message;
  return row;
}

std::string text_of(const CallsModel& model) {
  return fmt::format(
      "{} layers of {} experts, {} active, {} in a cell; width {}, experts' hidden layer {}; {} tokens in "
      "a micro-batch",
      model.layers, model.experts, model.active, model.experts_per_cell, model.width, model.mlp_width,
      model.micro_batch * model.context);
}

}  // namespace

// Equal windows by three ways: the whole model in one trainer; its experts as cells, in the caller's own trainer;
// and in another volunteer's.
Result<std::vector<BenchResult>> measure_loopback(const CallsOptions& options) {
  const CallsModel& model = options.near;
  STARLING_ASSIGN(const auto group, CallsGroup::start({model, model}, options.yields, nullptr));
  CallsHolders itself;
  CallsHolders other;
  const std::vector<wire::CellIndex> cells = cells_in(model);
  for (const wire::CellIndex cell : cells) {
    itself[cell] = {0};
    other[cell] = {1};
  }
  for (const std::size_t rank : {0, 1}) STARLING_TRY(group->hold(rank, cells));
  BenchResult row;
  CallsSpent spent;
  ProcessorMeter processor;
  for (int repetition = 0; repetition < options.repetitions; ++repetition) {
    const auto time = [&](const char* command, const char* figure) -> Status {
      STARLING_ASSIGN(const std::vector<double> seconds,
                      group->train(0, command, uncounted_windows(repetition), kCountedWindows));
      row.series[figure].push_back(median(seconds));
      return {};
    };
    STARLING_TRY(time("train-whole", "whole_s"));
    STARLING_TRY(group->call(0, itself));
    STARLING_TRY(time("train", "own_cells_s"));
    STARLING_TRY(group->call(0, other));
    STARLING_TRY(group->end_round().status());
    STARLING_TRY(time("train", "time_s"));
    STARLING_ASSIGN(const std::vector<CallsCosts> costs, group->end_round());
    spent.add(costs);
    row.series["processor_busy"].push_back(processor.busy());
    fmt::print(stderr, "loopback: repetition {} of {}\n", repetition + 1, options.repetitions);
  }
  row.name = fmt::format("loopback, {} tokens × {}", model.window_tokens(), model.width);
  row.series["ratio_to_whole"] = quotients(row.series["time_s"], row.series["whole_s"]);
  row.series["ratio_to_own_cells"] = quotients(row.series["time_s"], row.series["own_cells_s"]);
  row.aims = {{"ratio_to_whole", kTimeMax}, {"cpu_s_per_gb", kCpuPerGbMax}};
  spent.tell(row);
  conclude(row);
  return std::vector<BenchResult>{std::move(row)};
}

Result<BenchResult> run_calls_bench(const CallsOptions& options) {
  BenchResult result;
  for (const std::string& table : options.tables) {
    Result<std::vector<BenchResult>> rows = measure(table, options);
    if (!rows.ok() && options.tables.size() == 1) return rows.error();
    if (!rows.ok()) rows = std::vector<BenchResult>{not_measured(table, rows.error())};
    std::move(rows->begin(), rows->end(), std::back_inserter(result.rows));
  }
  result.settings["repetitions"] = std::to_string(options.repetitions);
  for (const std::string& table : options.tables) {
    const bool is_near = table == "loopback";
    result.settings[is_near ? "model of loopback" : "model of shaped links"] =
        text_of(is_near ? options.near : options.shaped);
    result.settings[is_near ? "in flight, loopback" : "in flight, shaped links"] =
        std::to_string(is_near ? options.near.in_flight : options.shaped.in_flight);
  }
  return result;
}

std::vector<std::string> calls_columns(const CallsOptions& options) {
  const auto has = [&](const char* table) {
    return std::find(options.tables.begin(), options.tables.end(), table) != options.tables.end();
  };
  std::vector<std::string> columns;
  const auto add = [&](std::initializer_list<const char*> more) {
    columns.insert(columns.end(), more.begin(), more.end());
  };
  if (has("delays")) add({"ratio_to_undelayed", "one_tokens_per_s", "one_ratio"});
  if (has("delays") || has("volunteers")) add({"tokens_per_s", "bound_tokens_per_s", "ratio_to_bound"});
  if (has("loopback")) add({"time_s", "whole_s", "ratio_to_whole", "ratio_to_own_cells"});
  add({"cpu_s_per_gb", "gradient_cpu_s_per_gb", "served_part", "processor_busy"});
  return columns;
}

}  // namespace starling::bench
