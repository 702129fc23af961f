// The rows over shaped links: a caller that is ever farther from its holders, and volunteers that call and hold.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "tests/bench/calls_measure.h"
#include "tests/netlab/lab.h"

namespace starling::bench {
namespace {

constexpr double kDelayedMin = 0.8;  // share of the undelayed throughput
constexpr double kDelayOfBarMs = 200;
constexpr double kEqualMin = 0.85;  // share of the closed form
constexpr double kUnequalMin = 0.75;
constexpr std::size_t kCallers = 2;   // in a swarm of `delays`: one with many micro-batches in flight, and with one
constexpr std::size_t kCopies = 2;    // holders of each cell there
constexpr int kWindowsOfOne = 4;      // counted, where one micro-batch is in flight
constexpr double kSettleSeconds = 5;  // at the start of a turn of `volunteers`; not counted

// Volunteers behind lines.
struct ShapedSwarm {
  std::unique_ptr<netlab::Lab> lab;
  std::unique_ptr<CallsGroup> group;
  CallsSpent spent{};
  BenchResult row{};
};

// The callers, and then the holders, all a round trip of that length apart.
Result<ShapedSwarm> start_delayed(const CallsOptions& options, double delay_ms) {
  const auto holders = static_cast<std::size_t>(options.holders);
  std::vector<CallsModel> models(kCallers + holders, options.shaped);
  models[1].in_flight = 1;
  constexpr double kLinksOnTheWay = 4;  // there and back
  const netlab::LinkSpec link{options.mbit, options.mbit, from_seconds(delay_ms / kLinksOnTheWay / 1e3)};
  netlab::LabOptions lab;
  lab.cuts = true;  // through the switch in user space, with a delay or without
  ShapedSwarm swarm;
  STARLING_ASSIGN(swarm.lab, netlab::Lab::create(std::vector<netlab::LinkSpec>(models.size(), link), lab));
  STARLING_ASSIGN(swarm.group, CallsGroup::start(models, options.yields, swarm.lab.get()));
  CallsHolders called;
  std::vector<std::vector<wire::CellIndex>> held(holders);
  for (const wire::CellIndex cell : cells_in(options.shaped)) {
    for (std::size_t copy = 0; copy < std::min(kCopies, holders); ++copy) {
      const std::size_t holder = (static_cast<std::size_t>(cell) + copy) % holders;
      held[holder].push_back(cell);
      called[cell].push_back(kCallers + holder);
    }
  }
  for (std::size_t i = 0; i < holders; ++i) STARLING_TRY(swarm.group->hold(kCallers + i, held[i]));
  for (std::size_t caller = 0; caller < kCallers; ++caller) STARLING_TRY(swarm.group->call(caller, called));
  swarm.row.name = fmt::format("{:g} Mbit/s, {:g} ms", options.mbit, delay_ms);
  return swarm;
}

Status take_turn(const CallsOptions& options, int repetition, ShapedSwarm& swarm) {
  const int uncounted = uncounted_windows(repetition);
  auto& series = swarm.row.series;
  const auto tokens = static_cast<double>(options.shaped.window_tokens());
  ProcessorMeter processor;
  STARLING_ASSIGN(const std::vector<double> all, swarm.group->train(0, "train", uncounted, kCountedWindows));
  series["processor_busy"].push_back(processor.busy());
  series["tokens_per_s"].push_back(tokens * kCountedWindows / sum(all));
  STARLING_ASSIGN(const std::vector<double> one, swarm.group->train(1, "train", uncounted, kWindowsOfOne));
  series["one_tokens_per_s"].push_back(tokens / options.shaped.in_flight * kWindowsOfOne / sum(one));
  STARLING_ASSIGN(const std::vector<CallsCosts> costs, swarm.group->end_round());
  swarm.spent.add(costs);
  return {};
}

// Each cell has all volunteers but one as holders. A volunteer does not call itself, as the closed form has it, though
// it would in a run; for each cell that leaves at least two others.
Result<ShapedSwarm> start_volunteers(const CallsOptions& options, const std::string& links) {
  ShapedSwarm swarm;
  STARLING_ASSIGN(std::vector<netlab::LinkSpec> lines, netlab::parse_links(links));
  STARLING_ASSIGN(swarm.lab, netlab::Lab::create(std::move(lines), {}));
  const std::size_t count = swarm.lab->links().size();
  const std::vector<CallsModel> models(count, options.shaped);
  STARLING_ASSIGN(swarm.group, CallsGroup::start(models, options.yields, swarm.lab.get()));
  for (std::size_t rank = 0; rank < count; ++rank) {
    std::vector<wire::CellIndex> held;
    CallsHolders called;
    for (const wire::CellIndex cell : cells_in(options.shaped)) {
      const std::size_t without = static_cast<std::size_t>(cell) % count;
      if (without != rank) held.push_back(cell);
      for (std::size_t other = 0; other < count; ++other) {
        if (other != rank && other != without) called[cell].push_back(other);
      }
    }
    STARLING_TRY(swarm.group->hold(rank, held));
    STARLING_TRY(swarm.group->call(rank, called));
  }
  return swarm;
}

// Windows between two moments, of those that ended at `ends`, but for the first one, at which they began. A window that
// lies partly between them counts by that part.
double windows_between(const std::vector<double>& ends, double from, double to) {
  double windows = 0;
  for (std::size_t i = 1; i < ends.size(); ++i) {
    const double within = std::min(to, ends[i]) - std::max(from, ends[i - 1]);
    if (within > 0) windows += within / (ends[i] - ends[i - 1]);
  }
  return windows;
}

Status take_turn_together(const CallsOptions& options, ShapedSwarm& swarm) {
  ProcessorMeter processor;
  STARLING_ASSIGN(const auto volunteers, swarm.group->train_for(from_seconds(kSettleSeconds + options.seconds)));
  swarm.row.series["processor_busy"].push_back(processor.busy());
  double from = 0;
  for (const std::vector<double>& ends : volunteers) from = std::max(from, ends.front());
  from += kSettleSeconds;
  double windows = 0;
  for (const std::vector<double>& ends : volunteers) windows += windows_between(ends, from, from + options.seconds);
  const auto tokens = static_cast<double>(options.shaped.window_tokens());
  swarm.row.series["tokens_per_s"].push_back(windows * tokens / options.seconds);
  STARLING_ASSIGN(const std::vector<CallsCosts> costs, swarm.group->end_round());
  swarm.spent.add(costs);
  return {};
}

}  // namespace

Result<std::vector<BenchResult>> measure_delays(const CallsOptions& options) {
  std::vector<double> delays_ms = {0};
  for (const double delay_ms : options.delays_ms) {
    if (delay_ms > 0) delays_ms.push_back(delay_ms);
  }
  std::vector<ShapedSwarm> swarms;
  for (const double delay_ms : delays_ms) {
    STARLING_ASSIGN(ShapedSwarm swarm, start_delayed(options, delay_ms));
    swarms.push_back(std::move(swarm));
  }
  for (int repetition = 0; repetition < options.repetitions; ++repetition) {
    for (ShapedSwarm& swarm : swarms) STARLING_TRY(take_turn(options, repetition, swarm));
    fmt::print(stderr, "delays: repetition {} of {}\n", repetition + 1, options.repetitions);
  }
  const double bound = caller_tokens_per_s(called(options.shaped), swarms.front().lab->links().front());
  const std::map<std::string, std::vector<double>> undelayed = swarms.front().row.series;
  std::vector<BenchResult> rows;
  for (std::size_t i = 0; i < swarms.size(); ++i) {
    BenchResult& row = swarms[i].row;
    row.series["ratio_to_undelayed"] = quotients(row.series["tokens_per_s"], undelayed.at("tokens_per_s"));
    row.series["one_ratio"] = quotients(row.series["one_tokens_per_s"], undelayed.at("one_tokens_per_s"));
    if (i > 0 && delays_ms[i] <= kDelayOfBarMs) row.least["ratio_to_undelayed"] = kDelayedMin;
    swarms[i].spent.tell(row);
    conclude_shaped(bound, row);
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<std::vector<BenchResult>> measure_volunteers(const CallsOptions& options) {
  std::vector<ShapedSwarm> swarms;
  for (const char* const links : {"100:100:10x4", "100:100:10x3,10:10:10"}) {
    STARLING_ASSIGN(ShapedSwarm swarm, start_volunteers(options, links));
    swarms.push_back(std::move(swarm));
  }
  swarms[0].row.name = "4 × 100 Mbit/s, 40 ms";
  swarms[0].row.least["ratio_to_bound"] = kEqualMin;
  swarms[1].row.name = "3 × 100 + 1 × 10 Mbit/s, 40 ms";
  swarms[1].row.least["ratio_to_bound"] = kUnequalMin;
  for (int repetition = 0; repetition < options.repetitions; ++repetition) {
    for (ShapedSwarm& swarm : swarms) STARLING_TRY(take_turn_together(options, swarm));
    fmt::print(stderr, "volunteers: repetition {} of {}\n", repetition + 1, options.repetitions);
  }
  std::vector<BenchResult> rows;
  for (ShapedSwarm& swarm : swarms) {
    swarm.spent.tell(swarm.row);
    conclude_shaped(swarm_tokens_per_s(called(options.shaped), swarm.lab->links()), swarm.row);
    rows.push_back(std::move(swarm.row));
  }
  return rows;
}

}  // namespace starling::bench
