// One volunteer after the other is killed and started anew: how long the others stand still.
#include <doctest/doctest.h>

#include "tests/sim/swarm.h"

namespace starling::sim {
namespace {

// Alike, so that it matters little who is killed; calls get through, since losing one of those is a fault of its own.
SwarmOptions six_alike(std::uint64_t seed) {
  SwarmOptions options;
  options.seed = seed;
  options.target_batch_size = 120;
  options.samples_per_s_min = options.samples_per_s_max = 20;
  options.calls_delayed = options.calls_lost = 0;
  options.seconds_between_faults = 0;
  options.seconds_between_kills = 10;
  options.length = std::chrono::seconds(300);
  return options;
}

}  // namespace

TEST_CASE("a volunteer killed every 10 s: no round ends 2 s later than usual") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    const SwarmResult result = run_swarm(six_alike(seed));
    CHECK(result.broken == "");
    CHECK(result.crashes == 20);
    CHECK(result.round_s_usual > 0.9);  // of computing alone: 1 s
    CHECK(result.round_s_longest < result.round_s_usual + 2);
  }
}

}  // namespace starling::sim
