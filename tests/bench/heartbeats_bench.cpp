#include "tests/bench/heartbeats_bench.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/bench/staged_load.h"

namespace starling::bench {
namespace {

constexpr int kNewAtOnce = 64;         // connections being made
constexpr double kOfSaturation = 0.7;  // share of the saturated rate at which latency is measured
constexpr Duration kFirstCallsPatience = std::chrono::minutes(30);  // for all volunteers together

// Figures of one way to call: rate, latency, cost.
struct Measured {
  double per_s = 0;
  double p50_ms = 0;
  double p99_ms = 0;
  double cpu_us = 0;  // the coordinator's CPU time for one heartbeat at saturation
};

// Measures at saturation and at a lower pace in turns, so that both see one state of the machine. Medians over the
// turns.
Result<Measured> measure(HeartbeatLoad& load, const CoordinatorProcess& coordinator, int turns) {
  constexpr Duration kTurn = std::chrono::seconds(1);
  // Limits the generator's own work, which is not to be measured.
  constexpr std::size_t kCallers = HeartbeatLoad::kContextsKept;
  STARLING_TRY(
      expect_answers(load.run({.length = kTurn, .callers_max = kCallers})));  // everybody connects and becomes known
  std::vector<double> rates, p50s, p99s, costs;
  for (int turn = 0; turn < turns; ++turn) {
    const double cpu_before = coordinator.cpu_seconds();
    const LoadFigures saturated = load.run({.length = kTurn, .callers_max = kCallers});
    const double cpu = coordinator.cpu_seconds() - cpu_before;
    STARLING_TRY(expect_answers(saturated));
    rates.push_back(saturated.answered_per_s);
    costs.push_back(cpu * 1e6 / std::max(1.0, saturated.answered_per_s * to_seconds(kTurn)));
    const LoadFigures paced =
        load.run({.rate_per_s = kOfSaturation * rates.back(), .length = kTurn, .callers_max = kCallers});
    STARLING_TRY(expect_answers(paced));
    p50s.push_back(paced.p50_ms);
    p99s.push_back(paced.p99_ms);
  }
  return Measured{median(rates), median(p50s), median(p99s), median(costs)};
}

// Samples at the moment after a coordinator was killed under load.
struct AtKill {
  SampleCount acknowledged = 0;  // samples that the trainers were told are stored
  SampleCount ledger = 0;
};

// Kills the coordinator, reads the ledger, and serves again.
Result<AtKill> kill_under_load(Stage& stage, HeartbeatLoad& load) {
  constexpr Duration kBefore = std::chrono::seconds(2);
  stage.loop.at(stage.loop.now() + kBefore, [&] { stage.coordinator->kill(); });
  load.run({.rate_per_s = 0, .length = kBefore + kBefore / 4});  // failures are expected then
  AtKill at_kill{stage.swarm->acknowledged_samples()};
  STARLING_ASSIGN(at_kill.ledger, stage.coordinator->ledger_samples());
  if (at_kill.ledger < at_kill.acknowledged) {
    return Error{ErrorCode::corrupt, fmt::format("{} samples were acknowledged, and {} are in the ledger after kill -9",
                                                 at_kill.acknowledged, at_kill.ledger)};
  }
  STARLING_TRY(stage.coordinator->serve());
  return at_kill;
}

// Lets everybody call once before measuring: a volunteer's first call costs more.
Status meet_everybody(EventLoop& loop, HeartbeatLoad& load, int volunteers) {
  const TimePoint began = loop.now();
  STARLING_TRY(
      expect_answers(load.run({.rate_per_s = 0, .length = kFirstCallsPatience, .heartbeats_max = volunteers})));
  fmt::print(stderr, "{} volunteers have called for the first time, in {:.0f} s\n", volunteers,
             to_seconds(loop.now() - began));
  return {};
}

}  // namespace

Result<BenchResult> run_heartbeats_bench(const HeartbeatsOptions& options) {
  EventLoop loop;
  STARLING_ASSIGN(const auto stage, Stage::set(loop, {.volunteers = options.volunteers, .trainers = options.trainers}));
  const CoordinatorProcess& coordinator = *stage->coordinator;
  HeartbeatLoad new_load(stage->callers(), kNewAtOnce, false);
  STARLING_TRY(meet_everybody(loop, new_load, options.volunteers));
  HeartbeatLoad kept_load(stage->callers(), std::min(options.connections, options.volunteers), true);
  auto kept = measure(kept_load, coordinator, options.turns);
  if (!kept.ok()) return kept.error().prefixed("kept connections");
  auto fresh = measure(new_load, coordinator, options.turns);
  if (!fresh.ok()) return fresh.error().prefixed("new connections");
  const double peak_bytes = coordinator.peak_resident_bytes();
  STARLING_ASSIGN(const AtKill at_kill, kill_under_load(*stage, kept_load));
  STARLING_TRY(stage->settle());
  STARLING_ASSIGN(const SampleCount ledger, coordinator.ledger_samples());

  BenchResult result;
  result.settings = {{"volunteers", std::to_string(options.volunteers)},
                     {"connections", std::to_string(options.connections)},
                     {"trainers", std::to_string(options.trainers)},
                     {"turns", std::to_string(options.turns)}};
  result.figures = {{"kept_per_s", kept->per_s},
                    {"new_per_s", fresh->per_s},
                    {"p50_ms", kept->p50_ms},
                    {"p99_ms", kept->p99_ms},
                    {"new_p50_ms", fresh->p50_ms},
                    {"new_p99_ms", fresh->p99_ms},
                    {"kept_cpu_us", kept->cpu_us},
                    {"new_cpu_us", fresh->cpu_us},
                    {"rss_mb", peak_bytes / 1e6},
                    {"rounds", static_cast<double>(stage->swarm->acknowledged_rounds())},
                    {"acknowledged_at_kill", static_cast<double>(at_kill.acknowledged)},
                    {"ledger_at_kill", static_cast<double>(at_kill.ledger)},
                    {"acknowledged_samples", static_cast<double>(stage->swarm->acknowledged_samples())},
                    {"ledger_samples", static_cast<double>(ledger)}};
  return result;
}

}  // namespace starling::bench
