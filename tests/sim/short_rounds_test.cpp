// Rounds of half a second: their samples when batches take their time unevenly, and the losses.
#include <doctest/doctest.h>

#include "tests/sim/swarm.h"

namespace starling::sim {
namespace {

// Eight micro-batches of each in a round.
SwarmOptions four_on_half_seconds(std::uint64_t seed, double batch_jitter) {
  SwarmOptions options;
  options.seed = seed;
  options.peers = 4;
  options.samples_per_s_min = options.samples_per_s_max = 32;
  options.target_batch_size = 64;
  options.batch_jitter = batch_jitter;
  options.latency_ms_min = options.latency_ms_max = 2;
  options.calls_delayed = options.calls_lost = 0;
  options.seconds_between_faults = 0;
  options.length = std::chrono::seconds(90);
  return options;
}

}  // namespace

TEST_CASE("short rounds bring the samples that were asked for, however much batches' times vary") {
  constexpr int kSeeds = 4;
  for (const double jitter : {0.0, 0.3, 1.0, 2.0}) {
    CAPTURE(jitter);
    double filled = 0;  // in the mean of the seeds, each of which is a walk of its own
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      CAPTURE(seed);
      const SwarmResult result = *run_swarm(four_on_half_seconds(seed, jitter));
      CHECK(result.broken == "");
      CHECK(result.samples_per_s_usual > (jitter > 1 ? 80 : 100));  // 128 are possible, were there nothing to average
      CHECK(result.batch_filled > 0.94);
      filled += result.batch_filled / kSeeds;
    }
    CHECK(filled > 0.96);
    // Where one batch may take longer than a round, the others compute on while they wait for it.
    CHECK(filled < (jitter > 1 ? 1.2 : 1.04));
  }
}

TEST_CASE("computers that are busy with something else now and then: the same") {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    CAPTURE(seed);
    SwarmOptions options = four_on_half_seconds(seed, 0.3);
    options.seconds_between_hiccups = 2;
    options.hiccup_s_max = 0.4;
    const SwarmResult result = *run_swarm(options);
    CHECK(result.broken == "");
    CHECK(result.batch_filled > 0.96);
    CHECK(result.batch_filled < 1.04);
  }
}

}  // namespace starling::sim
