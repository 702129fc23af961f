// A member that does harm round after round: its reputation drops, and soon rounds are as if it were not there.
#include <doctest/doctest.h>

#include "tests/sim/swarm.h"

namespace starling::sim {
namespace {

SwarmOptions five_peers(std::uint64_t seed) {
  SwarmOptions options;
  options.seed = seed;
  options.peers = 5;
  options.seconds_between_faults = 0;
  options.length = std::chrono::seconds(200);
  options.calm = std::chrono::seconds(200);
  options.target_batch_size = 512;  // nobody comes too late for the first round
  options.parameters = 40000;
  options.speeds_known = true;
  options.upload_mbit_min = options.upload_mbit_max = 10;
  return options;
}

SwarmResult run(const SwarmOptions& options) {
  SwarmResult result = run_swarm(options, {});
  CHECK(result.broken == "");
  return result;
}

// With a sixth peer, of the kind that is counted by that option.
SwarmResult check_unharmed(std::uint64_t seed, int SwarmOptions::*culprits) {
  CAPTURE(seed);
  SwarmOptions options = five_peers(seed);
  const SwarmResult without = run(options);
  ++options.peers;
  options.*culprits = 1;
  SwarmResult with = run(options);
  CHECK(with.samples_per_s_calm >= 0.95 * without.samples_per_s_calm);
  return with;
}

}  // namespace

TEST_CASE("who sends garbage soon holds up nobody") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const SwarmResult with = check_unharmed(seed, &SwarmOptions::garbage_peers);
    CHECK(with.rounds_lost < with.rounds_decided / 5);
  }
}

TEST_CASE("whose line is a hundred times slower than it tells soon holds up nobody") {
  for (const std::uint64_t seed : {1, 2, 3}) check_unharmed(seed, &SwarmOptions::slow_peers);
}

}  // namespace starling::sim
