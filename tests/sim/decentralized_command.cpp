#include "tests/sim/decentralized_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

#include "shared/base/clock.h"
#include "shared/base/files.h"
#include "shared/swarm/gossip_groups.h"
#include "shared/wire/json_writer.h"
#include "tests/plots/dot_plot.h"
#include "tests/sim/progress.h"
#include "tests/sim/statistics.h"

namespace starling::sim {
namespace {

using Kind = swarm::FormationSpec::Kind;

constexpr std::array kRates{1e-3, 2e-3, 4e-3, 8e-3};

enum class Way : std::uint8_t { all_reduce, adam, accum };
constexpr std::array kWays{Way::all_reduce, Way::adam, Way::accum};

std::string to_string(Way way) {
  if (way == Way::all_reduce) return "all-reduce AdamW";
  return way == Way::adam ? "decentralized AdamW" : "decentralized AccumAdamW";
}

struct Row {
  Way way = Way::all_reduce;
  std::string topology;
  double rate = 0;
  std::vector<double> losses;     // excess, by seed
  double consensus_distance = 0;  // mean over the seeds
};

struct Experiment {
  std::vector<Row> by_rate;      // every way at every rate, on the one-peer exponential graph
  std::vector<Row> by_topology;  // decentralized ways at all-reduce's best rate
  double rate = 0;               // that best rate
};

std::vector<swarm::FormationSpec> topologies(std::size_t workers) {
  return {{},
          swarm::gossip_formation(wire::GossipPartners::exponential, workers),
          {Kind::alternating_exponential_ring, {4}},
          swarm::gossip_formation(wire::GossipPartners::ring, workers),
          swarm::gossip_formation(wire::GossipPartners::random, workers),
          swarm::gossip_formation(wire::GossipPartners::grid, workers)};
}

class Runner {
 public:
  explicit Runner(const DecentralizedArguments& arguments) : arguments_(arguments) {
    const std::size_t runs = kRates.size() * kWays.size() + 2 * topologies(arguments.workers).size();
    steps_ = static_cast<double>(runs) * arguments.seeds * arguments.steps;
  }

  Result<Row> row(Way way, const swarm::FormationSpec& topology, double rate) {
    Row row{way, way == Way::all_reduce ? "" : swarm::to_string(topology), rate, {}, 0};
    DecentralizedSetup setup;
    if (way != Way::all_reduce) setup.topology = topology;
    setup.optimizer =
        TeacherProblem::optimizer(way == Way::accum ? wire::OptimizerKind::accum_adamw : wire::OptimizerKind::adamw);
    setup.optimizer.window_rounds = arguments_.window;
    setup.learning_rate = rate;
    setup.workers = arguments_.workers;
    setup.batch = arguments_.batch;
    setup.steps = arguments_.steps;
    setup.failure_rate = arguments_.failure_rate;
    for (int k = 0; k < arguments_.seeds; ++k) {
      const auto step = [&] { progress_.show(++done_ / steps_, fmt::format("{}, {}", to_string(way), rate)); };
      STARLING_ASSIGN(const DecentralizedResult result,
                      train_decentralized(setup, arguments_.seed + static_cast<std::uint64_t>(k), step));
      row.losses.push_back(result.excess_loss);
      row.consensus_distance += result.consensus_distance / arguments_.seeds;
    }
    return row;
  }

 private:
  const DecentralizedArguments& arguments_;
  Progress progress_;
  double steps_ = 0, done_ = 0;
};

Result<Experiment> experiment(const DecentralizedArguments& arguments) {
  Runner runner(arguments);
  Experiment result;
  double best = 0;
  for (const Way way : kWays) {
    for (const double rate : kRates) {
      STARLING_ASSIGN(
          Row row,
          runner.row(way, swarm::gossip_formation(wire::GossipPartners::exponential, arguments.workers), rate));
      if (way == Way::all_reduce && (result.rate == 0 || mean(row.losses) < best)) {
        result.rate = rate;
        best = mean(row.losses);
      }
      result.by_rate.push_back(std::move(row));
    }
  }
  for (const swarm::FormationSpec& topology : topologies(arguments.workers)) {
    for (const Way way : {Way::adam, Way::accum}) {
      STARLING_ASSIGN(Row row, runner.row(way, topology, result.rate));
      result.by_topology.push_back(std::move(row));
    }
  }
  return result;
}

std::string loss_text(const Row& row) {
  return fmt::format("{:.4f} ± {:.4f}", mean(row.losses), deviation(row.losses));
}

const Row& find(const std::vector<Row>& rows, Way way, double rate) {
  return *std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.way == way && row.rate == rate; });
}

void print_tables(const DecentralizedArguments& arguments, const Experiment& all) {
  fmt::print(
      "{} workers with batches of {}, {} steps, {} seed{}: excess loss in nats (divergence from the teacher), mean "
      "and\n"
      "standard deviation\n\n| learning rate |",
      arguments.workers, arguments.batch, arguments.steps, arguments.seeds, arguments.seeds == 1 ? "" : "s");
  for (const Way way : kWays) fmt::print(" {} |", to_string(way));
  fmt::print("\n|---|---|---|---|\n");
  for (const double rate : kRates) {
    fmt::print("| {}{} |", rate, rate == all.rate ? ", all-reduce's best" : "");
    for (const Way way : kWays) fmt::print(" {} |", loss_text(find(all.by_rate, way, rate)));
    fmt::print("\n");
  }
  const double all_reduce = mean(find(all.by_rate, Way::all_reduce, all.rate).losses);
  fmt::print(
      "\nAt {}, all-reduce's best:\n\n| topology | decentralized AdamW | AccumAdamW | of the gap, closed | spread |\n",
      all.rate);
  fmt::print("|---|---|---|---|---|\n");
  for (std::size_t k = 0; k + 1 < all.by_topology.size(); k += 2) {
    const Row& adam = all.by_topology[k];
    const Row& accum = all.by_topology[k + 1];
    fmt::print("| {} | {} | {} | {:.0f} % | {:.1f} % |\n", adam.topology, loss_text(adam), loss_text(accum),
               100 * gap_closed(all_reduce, mean(adam.losses), mean(accum.losses)), 100 * accum.consensus_distance);
  }
}

std::string to_json(const DecentralizedArguments& arguments, const Experiment& all) {
  wire::JsonWriter out;
  out.open("", '{');
  out.integer("workers", static_cast<std::int64_t>(arguments.workers));
  out.integer("batch", arguments.batch);
  out.integer("steps", arguments.steps);
  out.integer("seed", static_cast<std::int64_t>(arguments.seed));
  out.number("best_rate", all.rate);
  out.open("rows", '[');
  for (const std::vector<Row>* rows : {&all.by_rate, &all.by_topology}) {
    for (const Row& row : *rows) {
      out.open("", '{');
      out.text("way", to_string(row.way));
      out.text("topology", row.topology);
      out.number("learning_rate", row.rate);
      out.number("spread", row.consensus_distance);
      out.open("excess_losses", '[');
      for (const double loss : row.losses) out.number("", loss);
      out.close(']');
      out.close('}');
    }
  }
  out.close(']');
  out.close('}');
  return out.str() + "\n";
}

std::string to_svg(const DecentralizedArguments& arguments, const Experiment& all) {
  const std::string label = "excess loss, nats: each seed, and the median";
  const double all_reduce = mean(find(all.by_rate, Way::all_reduce, all.rate).losses);
  plot::DotPanel rates{"by learning rate, on the one-peer exponential graph; the line is all-reduce at its best",
                       label,
                       false,
                       all_reduce,
                       {}};
  for (const double rate : kRates) {
    plot::DotRow row{fmt::format("{}", rate), {}, {}};
    for (const Way way : kWays) row.series.push_back({to_string(way), find(all.by_rate, way, rate).losses});
    rates.rows.push_back(std::move(row));
  }
  plot::DotPanel topologies{
      fmt::format("by topology, at {}; the line is all-reduce", all.rate), label, false, all_reduce, {}};
  for (std::size_t k = 0; k + 1 < all.by_topology.size(); k += 2) {
    const Row& adam = all.by_topology[k];
    const Row& accum = all.by_topology[k + 1];
    topologies.rows.push_back(
        {adam.topology, {{to_string(adam.way), adam.losses}, {to_string(accum.way), accum.losses}}, {}});
  }
  return plot::dot_plot(fmt::format("{} workers with batches of {}", arguments.workers, arguments.batch),
                        {rates, topologies});
}

Status write_files(const DecentralizedArguments& arguments, const Experiment& all) {
  if (!arguments.json_file.empty()) {
    STARLING_TRY(write_file_atomically(arguments.json_file, to_json(arguments, all)));
  }
  if (!arguments.plot_file.empty()) STARLING_TRY(write_file_atomically(arguments.plot_file, to_svg(arguments, all)));
  return {};
}

}  // namespace

double gap_closed(double all_reduce, double decentralized, double other) {
  return (decentralized - other) / (decentralized - all_reduce);
}

int run_decentralized(const DecentralizedArguments& arguments) {
  const auto began = std::chrono::steady_clock::now();
  const Result<Experiment> all = experiment(arguments);
  const Status done = all.ok() ? write_files(arguments, *all) : Status(all.error());
  if (all.ok()) {
    print_tables(arguments, *all);
    fmt::print("\n{:.1f} s\n", to_seconds(std::chrono::steady_clock::now() - began));
  }
  if (!done.ok()) fmt::print(stderr, "starling-sim decentralized: {}\n", done.error().message);
  return done.ok() ? 0 : 1;
}

}  // namespace starling::sim
