#include "tests/sim/local_methods_command.h"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "shared/base/files.h"
#include "tests/plots/dot_plot.h"
#include "tests/sim/decentralized.h"
#include "tests/sim/decentralized_command.h"
#include "tests/sim/local_methods.h"
#include "tests/sim/progress.h"
#include "tests/sim/statistics.h"
#include "tests/sim/teacher_problem.h"

namespace starling::sim {
namespace {

constexpr std::array kRates{5e-4, 1e-3, 2e-3, 4e-3, 8e-3, 1.6e-2};
constexpr std::size_t kWorkers = 8;
constexpr int kBatch = 4;
constexpr int kOften = 10, kSeldom = 50;  // steps from one meeting to the next
constexpr int kRoundEvery = 5;            // meetings in pairs from one of all to the next, like in a run

int steps_of(const LocalMethodsArguments& arguments) { return kSeldom * arguments.meetings; }

// A method, or the baseline for all of them.
struct Way {
  std::string name;
  std::optional<LocalMethod> method;  // none: gradients are averaged at every step, over `workers`
  std::size_t workers = 1;
  int interval = 1;
  int mean_every = 0;  // LocalSetup
  int delay = 0;       // LocalSetup
};

std::vector<Way> ways_of() {
  std::vector<Way> ways{{"one worker alone", {}, 1, 0}, {"gradients averaged at every step", {}, kWorkers, 1}};
  const auto local = [&](LocalMethod method, int interval) {
    ways.push_back({std::string(to_string(method)), method, kWorkers, interval});
  };
  for (const LocalMethod method : {LocalMethod::diloco, LocalMethod::sparse_loco}) local(method, kOften);
  for (const LocalMethod method :
       {LocalMethod::fed_avg, LocalMethod::diloco, LocalMethod::noloco, LocalMethod::gossip_pairs}) {
    local(method, kSeldom);
  }
  ways.push_back({"NoLoCo, every fifth time all", LocalMethod::noloco, kWorkers, kSeldom, kRoundEvery});
  // Steps go on for half of an interval.
  const auto go_on = [&](std::string name, LocalMethod method, int interval) {
    ways.push_back({std::move(name), method, kWorkers, interval, 0, interval / 2});
  };
  go_on("DiLoCo, steps go on", LocalMethod::diloco, kSeldom);
  go_on("eager DiLoCo", LocalMethod::eager_diloco, kSeldom);
  go_on(fmt::format("streaming DiLoCo, of {} parts", kFragments), LocalMethod::streaming_diloco, kSeldom / kFragments);
  return ways;
}

struct Row {
  Way way;
  std::array<std::vector<double>, kRates.size()> losses;  // excess, by rate and seed
  [[nodiscard]] std::size_t best() const {
    std::size_t best = 0;
    for (std::size_t k = 1; k < kRates.size(); ++k) best = mean(losses[k]) < mean(losses[best]) ? k : best;
    return best;
  }
  [[nodiscard]] double best_loss() const { return mean(losses[best()]); }
};

using OnStep = std::function<void()>;

Result<double> train(const LocalMethodsArguments& arguments, const Way& way, double rate, std::uint64_t seed,
                     const OnStep& on_step) {
  if (way.method) {
    const LocalSetup setup{*way.method, way.interval,        rate,           way.workers,
                           kBatch,      steps_of(arguments), way.mean_every, way.delay};
    return train_locally(setup, seed, on_step);
  }
  DecentralizedSetup setup;
  setup.optimizer = TeacherProblem::optimizer(wire::OptimizerKind::adamw);
  setup.learning_rate = rate;
  setup.workers = way.workers;
  setup.batch = kBatch;
  setup.steps = steps_of(arguments);
  STARLING_ASSIGN(const DecentralizedResult result, train_decentralized(setup, seed, on_step));
  return result.excess_loss;
}

Result<std::vector<Row>> train_all(const LocalMethodsArguments& arguments) {
  const std::vector<Way> ways = ways_of();
  const double runs = static_cast<double>(ways.size() * kRates.size()) * arguments.seeds;
  double done = 0;
  Progress progress;
  std::vector<Row> rows;
  for (const Way& way : ways) {
    Row row{way, {}};
    for (std::size_t k = 0; k < kRates.size(); ++k) {
      for (int s = 0; s < arguments.seeds; ++s) {
        const OnStep on_step = [&] { progress.show((done += 1.0 / steps_of(arguments)) / runs, way.name); };
        STARLING_ASSIGN(const double loss,
                        train(arguments, way, kRates[k], arguments.seed + static_cast<std::uint64_t>(s), on_step));
        row.losses[k].push_back(loss);
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string interval_text(const Way& way) {
  return way.interval == 0
             ? "never"
             : fmt::format("every {}", way.interval == 1 ? "step" : fmt::format("{} steps", way.interval));
}

// Returns, by seed, how far a row's held-out loss is above averaged gradients', in percent of that.
std::vector<double> margins(const LocalMethodsArguments& arguments, const Row& row, const Row& averaged) {
  std::vector<double> percents;
  for (std::size_t s = 0; s < row.losses[row.best()].size(); ++s) {
    const double least = TeacherProblem(arguments.seed + s).least_loss();
    const double reference = least + averaged.losses[averaged.best()][s];
    percents.push_back(100 * ((least + row.losses[row.best()][s]) / reference - 1));
  }
  return percents;
}

void print_table(const LocalMethodsArguments& arguments, const std::vector<Row>& rows) {
  fmt::print(
      "{} workers with batches of {}, {} steps, {} seed{}: excess loss in nats (divergence from the teacher), each at "
      "the best of\nthe learning rates, mean and standard deviation; and of the way from one worker alone to averaged "
      "gradients, the share gone; and how much more the whole held-out loss is than with averaged gradients, seed by "
      "seed"
      "\n\n| method | they meet | best rate | excess loss | of the gap, closed | held-out loss, more |\n"
      "|---|---|---|---|---|---|\n",
      kWorkers, kBatch, steps_of(arguments), arguments.seeds, arguments.seeds == 1 ? "" : "s");
  for (const Row& row : rows) {
    const std::size_t best = row.best();
    const std::vector<double> more = margins(arguments, row, rows[1]);
    fmt::print("| {} | {} | {} | {:.4f} ± {:.4f} | {:.0f} % | {:.1f} ± {:.1f} % |\n", row.way.name,
               interval_text(row.way), kRates[best], mean(row.losses[best]), deviation(row.losses[best]),
               100 * gap_closed(rows[1].best_loss(), rows[0].best_loss(), row.best_loss()), mean(more),
               deviation(more));
  }
}

std::string to_svg(const std::vector<Row>& rows) {
  plot::DotPanel panel{"each at its best learning rate; the line is gradients averaged at every step",
                       "excess loss, nats: each seed, and the median",
                       false,
                       rows[1].best_loss(),
                       {}};
  for (const Row& row : rows) {
    panel.rows.push_back({row.way.name, {{"meeting " + interval_text(row.way), row.losses[row.best()]}}, {}});
  }
  return plot::dot_plot(fmt::format("{} workers with batches of {}", kWorkers, kBatch), {panel});
}

}  // namespace

Status run_local_methods(const LocalMethodsArguments& arguments) {
  STARLING_ASSIGN(const std::vector<Row> rows, train_all(arguments));
  print_table(arguments, rows);
  if (arguments.plot_file.empty()) return {};
  return write_file_atomically(arguments.plot_file, to_svg(rows));
}

}  // namespace starling::sim
