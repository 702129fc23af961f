// One volunteer after the other is killed and started again: how long the others stand still.
#include <doctest/doctest.h>

#include "tests/sim/quadratic_problem.h"
#include "tests/sim/swarm.h"
#include "tests/support/suite_form.h"

namespace starling::sim {
namespace {

// The six are alike, so that it matters little which one is killed; calls get through, since losing one of those is a
// fault of its own.
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
  for (std::uint64_t seed = 1; seed <= starling::testing::times<std::uint64_t>(16, 40); ++seed) {
    CAPTURE(seed);
    const SwarmResult result = *run_swarm(six_alike(seed));
    CHECK(result.broken == "");
    CHECK(result.crashes == 20);
    CHECK(result.round_s_usual > 0.9);  // computing alone takes 1 s
    CHECK(result.round_s_longest < result.round_s_usual + 2);
  }
}

TEST_CASE("local steps and mixings: a kill every 10 s holds up nobody, and drives replicas no further apart") {
  struct Way {
    const char* algorithm;
    int steps = 10;  // steps of each volunteer, in a round
    int mix_every = 0;
    int group_size = 0;
  };
  for (const Way& way : {Way{"local-sgd"}, Way{"moshpit-sgd", 10, 0, 3}, Way{"diloco"}, Way{"decentralized-adam", 50},
                         Way{"noloco", 50, 10}}) {
    for (std::uint64_t seed = 1; seed <= starling::testing::times<std::uint64_t>(1, 3); ++seed) {
      CAPTURE(way.algorithm);
      CAPTURE(seed);
      SwarmOptions options = six_alike(seed);
      options.algorithm = way.algorithm;
      options.mix_every = way.mix_every;
      options.group_size = way.group_size;
      options.target_batch_size = options.peers * way.steps * kMicroBatch;
      const SwarmResult result = *run_swarm(options);
      CHECK(result.broken == "");
      CHECK(result.crashes == 20);
      CHECK(result.round_s_longest < result.round_s_usual + 2);
      CHECK(result.idle_s_longest < result.idle_s_usual + 2);
      CHECK(result.consensus_distance_most < 0.15);  // single samples pull 0.58 apart
      CHECK(result.distance_last < result.distance_first / 10);
      CHECK(result.consensus_distance_mean < (way.steps == 50 ? 0.04 : 0.1));
      CHECK((result.gossips > 0) == (way.steps == 50));
    }
  }
}

TEST_CASE("an algorithm that nobody knows is refused with the words that are known") {
  SwarmOptions options;
  options.algorithm = "none-such";
  CHECK(run_swarm(options).error().message.find("'decentralized-adam'") != std::string::npos);
}

}  // namespace starling::sim
