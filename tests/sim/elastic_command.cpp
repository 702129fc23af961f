#include "tests/sim/elastic_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "shared/base/files.h"
#include "shared/base/words.h"
#include "tests/plots/curve_plot.h"
#include "tests/sim/elastic.h"

namespace starling::sim {
namespace {

constexpr int kPlotDecades = 10;

struct Row {
  ElasticSetup setup;
  ElasticResult result;
};

Result<std::vector<Row>> train_all(const ElasticArguments& arguments) {
  struct Way {
    wire::OptimizerKind optimizer;
    double learning_rate;
  };
  constexpr std::array kWays{Way{wire::OptimizerKind::sgd, 0.05}, Way{wire::OptimizerKind::adamw, 4e-3},
                             Way{wire::OptimizerKind::lamb, 4e-3}, Way{wire::OptimizerKind::accum_adamw, 4e-3}};
  std::vector<Row> rows;
  for (const Way& way : kWays) {
    const ElasticSetup setup{way.optimizer, way.learning_rate, arguments.rounds};
    STARLING_ASSIGN(ElasticResult result, train_elastically(setup, arguments.seed));
    rows.push_back({setup, std::move(result)});
  }
  return rows;
}

void print_table(const ElasticArguments& arguments, const std::vector<Row>& rows) {
  const ElasticResult& all = rows.front().result;
  fmt::print(
      "{} to {} peers of unequal speed: {} join, {} leave, {} die in the middle of an averaging; {} samples in {} "
      "rounds"
      "\n\n| optimizer | a parameter moved, at most | apart from one process, at most | in the end | excess loss, nats "
      "| of one process |\n|---|---|---|---|---|---|\n",
      all.members_least, all.members_most, all.joins, all.leaves, all.deaths, all.samples, arguments.rounds);
  for (const Row& row : rows) {
    const ElasticResult& result = row.result;
    fmt::print("| {} | {:.2g} | {:.1e} | {:.1e} | {:.4f} | {:.4f} |\n", word_of(row.setup.optimizer), result.moved,
               *std::max_element(result.apart.begin(), result.apart.end()), result.apart.back(),
               result.swarm_excess_loss, result.process_excess_loss);
  }
}

std::string to_svg(const std::vector<Row>& rows) {
  plot::PlotPanel panel{"the largest difference of a parameter", {}};
  for (const Row& row : rows) panel.curves.push_back({std::string(word_of(row.setup.optimizer)), row.result.apart});
  return plot::curve_plot({panel}, {"An elastic swarm beside one process with all its samples", "rounds",
                                    "difference of a parameter", kPlotDecades});
}

}  // namespace

Status run_elastic(const ElasticArguments& arguments) {
  STARLING_ASSIGN(const std::vector<Row> rows, train_all(arguments));
  print_table(arguments, rows);
  if (arguments.plot_file.empty()) return {};
  return write_file_atomically(arguments.plot_file, to_svg(rows));
}

}  // namespace starling::sim
