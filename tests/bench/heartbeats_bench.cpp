#include "tests/bench/heartbeats_bench.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "shared/wire/messages.h"
#include "tests/bench/coordinator_process.h"
#include "tests/bench/event_loop.h"
#include "tests/bench/heartbeat_load.h"
#include "tests/bench/virtual_swarm.h"
#include "tests/bench/volunteers.h"

namespace starling::bench {
namespace {

constexpr double kTrainerSamplesPerS = 10;
constexpr double kSecondsPerRound = 1;
constexpr int kNewAtOnce = 64;         // connections being made, phase B
constexpr double kOfSaturation = 0.7;  // where latency is measured
constexpr Duration kFirstRoundPatience = std::chrono::seconds(60);
constexpr Duration kFirstCallsPatience = std::chrono::minutes(30);  // of all volunteers together
constexpr Duration kLastRoundPatience = std::chrono::seconds(30);

// What is measured of one way to call: how many, how fast, at what price.
struct Measured {
  double per_s = 0;
  double p50_ms = 0;
  double p99_ms = 0;
  double cpu_us = 0;  // the coordinator's, for one heartbeat at saturation
};

// What volunteers say that hold the swarm's state and pause: their calls cost what calls cost, and they are in no
// group.
std::string paused_heartbeat(const VirtualSwarm& swarm) {
  wire::Heartbeat heartbeat;
  heartbeat.run_id = CoordinatorProcess::kRun;
  heartbeat.phase = wire::MemberPhase::paused;
  heartbeat.state_round = swarm.round();
  heartbeat.state_digest = swarm.state_digest();
  heartbeat.samples_per_s = 123.4;
  heartbeat.batch_seconds = 0.25;
  heartbeat.listen_port = 4000;
  heartbeat.upload_bytes_per_s = 2.5e6;
  heartbeat.download_bytes_per_s = 1.2e7;
  return wire::encode(heartbeat);
}

// The same, written once a round.
std::function<const std::string&()> words_of(const VirtualSwarm& swarm) {
  return [&swarm, round = RoundIndex{-1}, text = std::string()]() mutable -> const std::string& {
    if (const RoundIndex now = swarm.round(); std::exchange(round, now) != now) text = paused_heartbeat(swarm);
    return text;
  };
}

Status check(const LoadFigures& figures) {
  if (figures.failed == 0) return {};
  return Error{ErrorCode::unavailable, fmt::format("{} heartbeats failed: {}", figures.failed,
                                                   figures.failure.empty() ? "no answer" : figures.failure)};
}

// As fast as it goes and at a pace below that take turns, so that both see the same machine. Medians over the turns.
Result<Measured> measure(HeartbeatLoad& load, const CoordinatorProcess& coordinator, int turns) {
  constexpr Duration kTurn = std::chrono::seconds(1);
  constexpr std::size_t kCallers = HeartbeatLoad::kContextsKept;  // the generator's own work is not to be measured
  STARLING_TRY(check(load.run({.length = kTurn, .callers_max = kCallers})));  // everybody connects and becomes known
  std::vector<double> rates, p50s, p99s, costs;
  for (int turn = 0; turn < turns; ++turn) {
    const double cpu_before = coordinator.cpu_seconds();
    const LoadFigures saturated = load.run({.length = kTurn, .callers_max = kCallers});
    const double cpu = coordinator.cpu_seconds() - cpu_before;
    STARLING_TRY(check(saturated));
    rates.push_back(saturated.answered_per_s);
    costs.push_back(cpu * 1e6 / std::max(1.0, saturated.answered_per_s * to_seconds(kTurn)));
    const LoadFigures paced =
        load.run({.rate_per_s = kOfSaturation * rates.back(), .length = kTurn, .callers_max = kCallers});
    STARLING_TRY(check(paced));
    p50s.push_back(paced.p50_ms);
    p99s.push_back(paced.p99_ms);
  }
  return Measured{median(rates), median(p50s), median(p99s), median(costs)};
}

Status settle(EventLoop& loop, VirtualSwarm& swarm) {
  swarm.stop();
  if (loop.run_until([&] { return swarm.all_acknowledged(); }, loop.now() + kLastRoundPatience)) return {};
  return Error{ErrorCode::deadline_exceeded, "the coordinator did not acknowledge the last rounds"};
}

}  // namespace

Result<BenchResult> run_heartbeats_bench(const HeartbeatsOptions& options) {
  ProjectOptions project;
  project.peers_max = options.volunteers + options.trainers;
  project.target_batch_size = static_cast<SampleCount>(kTrainerSamplesPerS * kSecondsPerRound * options.trainers);
  project.micro_batch_size = VirtualSwarm::kMicroBatch;
  STARLING_ASSIGN(const auto coordinator, CoordinatorProcess::start(project));
  EventLoop loop;
  STARLING_ASSIGN(const std::vector<Volunteer> everybody, join_volunteers(loop, *coordinator, project.peers_max));
  const std::span volunteers = std::span(everybody).first(static_cast<std::size_t>(options.volunteers));
  VirtualSwarm swarm(loop, *coordinator, std::span(everybody).subspan(volunteers.size()), kTrainerSamplesPerS);
  if (!loop.run_until([&] { return swarm.acknowledged_rounds() > 0; }, loop.now() + kFirstRoundPatience)) {
    return Error{ErrorCode::deadline_exceeded, "no round was acknowledged before the load began"};
  }

  // Everybody calls once before anything is measured: to be met for the first time costs more.
  const HeartbeatLoad::Parts parts{loop, *coordinator, volunteers, words_of(swarm)};
  HeartbeatLoad new_load(parts, kNewAtOnce, false);
  STARLING_TRY(
      check(new_load.run({.rate_per_s = 0, .length = kFirstCallsPatience, .heartbeats_max = options.volunteers})));
  HeartbeatLoad kept_load(parts, std::min(options.connections, options.volunteers), true);
  auto kept = measure(kept_load, *coordinator, options.turns);
  if (!kept.ok()) return kept.error().prefixed("kept connections");
  auto fresh = measure(new_load, *coordinator, options.turns);
  if (!fresh.ok()) return fresh.error().prefixed("new connections");
  STARLING_TRY(settle(loop, swarm));
  STARLING_ASSIGN(const SampleCount ledger, coordinator->ledger_samples());

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
                    {"rss_mb", coordinator->peak_resident_bytes() / 1e6},
                    {"rounds", static_cast<double>(swarm.acknowledged_rounds())},
                    {"acknowledged_samples", static_cast<double>(swarm.acknowledged_samples())},
                    {"ledger_samples", static_cast<double>(ledger)}};
  return result;
}

}  // namespace starling::bench
