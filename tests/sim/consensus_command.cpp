#include "tests/sim/consensus_command.h"

#include <fmt/format.h>

#include <vector>

#include "shared/base/files.h"
#include "tests/plots/dot_plot.h"
#include "tests/sim/decentralized.h"
#include "tests/sim/progress.h"
#include "tests/sim/statistics.h"

namespace starling::sim {
namespace {

constexpr std::size_t kWorkers = 16;
constexpr int kBatch = 2;
constexpr double kRate = 8e-3;
constexpr double kFinalFraction = 0.05;  // fraction of the learning rate, in the end
constexpr int kIntervals[] = {1, 4, 16, 64, 256};
constexpr double kRatios[] = {0.03, 0.05, 0.1, 0.2, 0.5, 1};
constexpr double kBounds[] = {0.005, 0.01, 0.02, 0.05};

struct Row {
  std::string name;
  DecentralizedSetup setup;
  std::vector<double> losses;                  // excess, by seed
  double gossips = 0, consensus_distance = 0;  // means over the seeds
};

DecentralizedSetup setup_of(const ConsensusArguments& arguments) {
  DecentralizedSetup setup;
  setup.topology = swarm::FormationSpec{swarm::FormationSpec::Kind::exponential_pairs, {}};
  setup.optimizer = TeacherProblem::optimizer(wire::OptimizerKind::adamw);
  setup.learning_rate = kRate;
  setup.final_fraction = kFinalFraction;
  setup.workers = kWorkers;
  setup.batch = kBatch;
  setup.steps = arguments.steps;
  return setup;
}

std::vector<Row> rows_of(const ConsensusArguments& arguments) {
  std::vector<Row> rows;
  for (const int interval : kIntervals) {
    Row row{interval == 1 ? "at every step" : fmt::format("every {} steps", interval), setup_of(arguments), {}};
    row.setup.mix_every = interval;
    rows.push_back(row);
  }
  for (const double ratio : kRatios) {
    Row row{fmt::format("spread above {} of the gradients", ratio), setup_of(arguments), {}};
    row.setup.consensus_distance_ratio = ratio;
    rows.push_back(row);
  }
  for (const double bound : kBounds) {
    Row row{fmt::format("consensus_bound = {}", bound), setup_of(arguments), {}};
    row.setup.consensus_bound = bound;
    rows.push_back(row);
  }
  return rows;
}

Status train(const ConsensusArguments& arguments, std::vector<Row>& rows) {
  Progress progress;
  const double steps = static_cast<double>(rows.size()) * arguments.seeds * arguments.steps;
  double done = 0;
  for (Row& row : rows) {
    for (int k = 0; k < arguments.seeds; ++k) {
      STARLING_ASSIGN(const DecentralizedResult result,
                      train_decentralized(row.setup, arguments.seed + static_cast<std::uint64_t>(k),
                                          [&] { progress.show(++done / steps, row.name); }));
      row.losses.push_back(result.excess_loss);
      row.gossips += static_cast<double>(result.gossips) / arguments.seeds;
      row.consensus_distance += result.consensus_distance / arguments.seeds;
    }
  }
  return {};
}

void print_table(const ConsensusArguments& arguments, const std::vector<Row>& rows) {
  fmt::print(
      "{} workers with batches of {}, {} steps at {}, {} seed{}; pairs on the exponential graph mix:\n\n"
      "| mixing | mixings | excess loss, nats | spread in the end |\n|---|---|---|---|\n",
      kWorkers, kBatch, arguments.steps, kRate, arguments.seeds, arguments.seeds == 1 ? "" : "s");
  for (const Row& row : rows) {
    fmt::print("| {} | {:.0f} | {:.4f} ± {:.4f} | {:.1f} % |\n", row.name, row.gossips, mean(row.losses),
               deviation(row.losses), 100 * row.consensus_distance);
  }
}

std::string way_of(const DecentralizedSetup& setup) {
  if (setup.consensus_bound > 0) return "as volunteers find it";
  return setup.consensus_distance_ratio > 0 ? "by spread" : "by steps";
}

std::string to_svg(const ConsensusArguments& arguments, const std::vector<Row>& rows) {
  plot::DotPanel panel{fmt::format("{} steps; the line is mixing at every step", arguments.steps),
                       "excess loss, nats: each seed, and the median",
                       false,
                       mean(rows.front().losses),
                       {}};
  for (const Row& row : rows) {
    const std::string label = fmt::format("{}: {:.0f}", row.name, row.gossips);
    panel.rows.push_back({label, {{way_of(row.setup), row.losses}}, {}});
  }
  return plot::dot_plot("How seldom workers can mix", {panel});
}

}  // namespace

Status run_consensus(const ConsensusArguments& arguments) {
  std::vector<Row> rows = rows_of(arguments);
  STARLING_TRY(train(arguments, rows));
  print_table(arguments, rows);
  if (arguments.plot_file.empty()) return {};
  return write_file_atomically(arguments.plot_file, to_svg(arguments, rows));
}

}  // namespace starling::sim
