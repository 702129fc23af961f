#include "tests/sim/cells_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "shared/base/files.h"
#include "tests/plots/dot_plot.h"
#include "tests/sim/emulated_cells.h"
#include "tests/sim/progress.h"
#include "tests/sim/statistics.h"

namespace starling::sim {
namespace {

constexpr double kLostMax = 1;      // points of accuracy that delay and failures may cost in the end
constexpr double kBehindMin = 3;    // points that the dense model is behind at a quarter of the updates, at least
constexpr double kSlowerRate = 10;  // the dense model's expert rate is divided by this in the last row

struct Row {
  std::string name;
  CellsSetup setup;
  std::vector<double> at_quarter, at_end;                          // percent, by seed
  std::vector<double> trunk_staleness, expert_staleness, busiest;  // by seed
};

// Places of rows in the table.
enum RowPlace : std::size_t { kCalm, kDelayed, kFailing, kDenseCalm, kDense, kDenseSlower };

CellsSetup setup_of(const CellsArguments& arguments, double delay_ms, double failures) {
  CellsSetup setup;
  setup.delay_ms = delay_ms;
  setup.failures = failures;
  setup.callers = arguments.callers;
  setup.updates = arguments.updates;
  setup.inputs_to_step = arguments.inputs_to_step;
  setup.updates_to_step = arguments.updates_to_step;
  return setup;
}

// The dense model's operations: twice the width is four times the operations of one expert, and four are active.
CellsSetup dense_setup_of(const CellsArguments& arguments, double delay_ms) {
  CellsSetup setup = setup_of(arguments, delay_ms, 0);
  setup.is_dense = true;
  setup.shape.grid = {1, 1};
  setup.shape.active = 1;
  setup.shape.width *= 2;
  setup.shape.hidden *= 2;
  return setup;
}

std::vector<Row> rows_of(const CellsArguments& arguments) {
  const double delay_ms = arguments.delay_ms;
  const std::string delayed = fmt::format("{:g} ms", delay_ms);
  std::vector<Row> rows;
  const auto add = [&](std::string name, const CellsSetup& setup) {
    rows.push_back({std::move(name), setup, {}, {}, {}, {}, {}});
  };
  add("experts, no delay", setup_of(arguments, 0, 0));
  add("experts, " + delayed, setup_of(arguments, delay_ms, 0));
  add(fmt::format("experts, {}, {:g} % fail", delayed, 100 * arguments.failures),
      setup_of(arguments, delay_ms, arguments.failures));
  add("dense, no delay", dense_setup_of(arguments, 0));
  add("dense, " + delayed, dense_setup_of(arguments, delay_ms));
  CellsSetup slower = dense_setup_of(arguments, delay_ms);
  slower.expert_rate /= kSlowerRate;
  add(fmt::format("dense, {}, smaller steps", delayed), slower);
  return rows;
}

Status train(const CellsArguments& arguments, const Fashion& data, std::vector<Row>& rows) {
  Progress progress;
  const double updates = static_cast<double>(rows.size()) * arguments.seeds * arguments.updates;
  double done = 0;
  for (Row& row : rows) {
    for (int k = 0; k < arguments.seeds; ++k) {
      STARLING_ASSIGN(const CellsResult result,
                      train_cells(row.setup, data, arguments.seed + static_cast<std::uint64_t>(k),
                                  [&] { progress.show(++done / updates, row.name); }));
      row.at_quarter.push_back(100 * result.at_quarter);
      row.at_end.push_back(100 * result.at_end);
      row.trunk_staleness.push_back(result.trunk_staleness);
      row.expert_staleness.push_back(result.expert_staleness);
      row.busiest.push_back(result.busiest);
    }
  }
  return {};
}

void print_table(const CellsArguments& arguments, const std::vector<Row>& rows) {
  const CellsShape shape = rows[kCalm].setup.shape;
  fmt::print(
      "{} callers with batches of {}, {} updates, {} seed{}; {} layers of {} experts, {} active: {:.0f} k "
      "multiplications for a picture, dense {:.0f} k\n\n"
      "| model | accuracy at a quarter, % | in the end, % | age of the trunk's gradient, updates | of an expert's, its "
      "own steps | busiest expert over the mean |\n|---|---|---|---|---|---|\n",
      arguments.callers, rows[kCalm].setup.batch, arguments.updates, arguments.seeds, arguments.seeds == 1 ? "" : "s",
      shape.layers, shape.experts(), shape.active, static_cast<double>(shape.multiplications()) / 1e3,
      static_cast<double>(rows[kDense].setup.shape.multiplications()) / 1e3);
  for (const Row& row : rows) {
    fmt::print("| {} | {:.1f} ± {:.1f} | {:.2f} ± {:.2f} | {:.1f} | {:.1f} | {:.1f} |\n", row.name,
               mean(row.at_quarter), deviation(row.at_quarter), mean(row.at_end), deviation(row.at_end),
               mean(row.trunk_staleness), mean(row.expert_staleness), mean(row.busiest));
  }
}

std::string to_svg(const CellsArguments& arguments, const std::vector<Row>& rows) {
  plot::DotPanel panel{fmt::format("{} updates; the line is experts without delay in the end", arguments.updates),
                       "accuracy, %: each seed, and the median",
                       false,
                       mean(rows[kCalm].at_end),
                       {}};
  for (const Row& row : rows) {
    panel.rows.push_back({row.name, {{"at a quarter of the updates", row.at_quarter}, {"in the end", row.at_end}}, {}});
  }
  return plot::dot_plot(fmt::format("{} callers of experts that others hold", arguments.callers), {panel});
}

// An error says what does not hold.
Status judge(const std::vector<Row>& rows) {
  const double calm = mean(rows[kCalm].at_end);
  const double lost = calm - std::min(mean(rows[kDelayed].at_end), mean(rows[kFailing].at_end));
  const double behind = mean(rows[kFailing].at_quarter) - mean(rows[kDense].at_quarter);
  const bool holds = lost <= kLostMax && behind >= kBehindMin;
  const std::string found = fmt::format(
      "delay and failures cost {:.2f} points in the end ({} at most); at a quarter of the updates the dense "
      "model is {:.1f} points behind ({} at least)",
      lost, kLostMax, behind, kBehindMin);
  if (!holds) return Error{ErrorCode::failed_precondition, "the bar does not hold: " + found};
  fmt::print("\nThe bar holds: {}.\n", found);
  return {};
}

}  // namespace

Status run_cells(const CellsArguments& arguments) {
  if (arguments.updates % kCellsCheckpoints != 0) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("--updates {}: give a multiple of {}", arguments.updates, kCellsCheckpoints)};
  }
  STARLING_ASSIGN(const Fashion data, read_fashion());
  std::vector<Row> rows = rows_of(arguments);
  STARLING_TRY(train(arguments, data, rows));
  print_table(arguments, rows);
  if (!arguments.plot_file.empty()) {
    STARLING_TRY(write_file_atomically(arguments.plot_file, to_svg(arguments, rows)));
  }
  return judge(rows);
}

}  // namespace starling::sim
