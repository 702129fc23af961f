#include "tests/sim/step_time.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "shared/base/verify.h"
#include "tests/sim/normal_values.h"
#include "tests/sim/step_recurrences.h"

namespace starling::sim {
namespace {

constexpr double kSlowdownMin = 0.1;  // no computer is ten times as fast as usual
constexpr int kSettling = 20;         // steps until decentralized workers have found their pace

// Returns costs in milliseconds.
StepCosts costs_of(const StepTimeSetup& setup, double communication_ms) {
  const auto buckets = static_cast<double>(setup.buckets);
  return {setup.forward_ms, std::vector<double>(setup.buckets, setup.backward_ms / buckets),
          std::vector<double>(setup.buckets, communication_ms / buckets)};
}

std::vector<double> draw_slowdowns(const StepTimeSetup& setup, swarm::RandomStream& random) {
  std::vector<double> slowdown = normal_values(setup.workers, random);
  for (double& factor : slowdown) {
    factor = std::max(kSlowdownMin, 1 + setup.jitter * factor);
    if (random.uniform() < setup.straggler_rate) factor *= setup.straggler_factor;
  }
  return slowdown;
}

}  // namespace

StepTime step_time(const StepTimeSetup& setup, std::uint64_t seed) {
  VERIFY(setup.workers > 0 && setup.steps > 0 && setup.buckets > 0);
  swarm::RandomStream random(seed);
  const auto formation = swarm::make_formation(setup.topology, std::vector<double>(setup.workers, 1.0), seed);
  const std::vector<std::uint8_t> present(setup.workers, 1);
  AllReduceSteps all_reduce(costs_of(setup, setup.all_reduce_ms));
  DecentralizedSteps decentralized(costs_of(setup, setup.gossip_ms), setup.workers);
  StepTime begin, end;
  for (int step = 0; step < kSettling + setup.steps; ++step) {
    const std::vector<double> slowdown = draw_slowdowns(setup, random);
    if (step == kSettling) begin = end;
    end = {all_reduce.step(slowdown), decentralized.step(slowdown, formation->form(present))};
  }
  return {(end.all_reduce_ms - begin.all_reduce_ms) / setup.steps,
          (end.decentralized_ms - begin.decentralized_ms) / setup.steps};
}

StepTime undisturbed_step_time(const StepTimeSetup& setup) {
  const auto buckets = static_cast<double>(setup.buckets);
  const double last_bucket_ms = setup.backward_ms + setup.all_reduce_ms / buckets;
  const double line_busy_ms = setup.backward_ms / buckets + setup.all_reduce_ms;
  return {setup.forward_ms + std::max(last_bucket_ms, line_busy_ms),
          std::max(setup.forward_ms + setup.backward_ms, setup.gossip_ms)};
}

}  // namespace starling::sim
