// A member that does harm round after round: its reputation drops, and soon rounds are as if it were not there.
#include <doctest/doctest.h>

#include "tests/sim/swarm.h"
#include "tests/support/suite_form.h"

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
  // These take the time of 40 000 on lines of 10 Mbit/s, and a tenth of the computing.
  options.parameters = 4000;
  options.segment_floats = 50;
  options.speeds_known = true;
  options.upload_mbit_min = options.upload_mbit_max = 1;
  return options;
}

SwarmResult run(const SwarmOptions& options) {
  SwarmResult result = *run_swarm(options);
  CHECK(result.broken == "");
  return result;
}

struct Sums {
  double samples_per_s = 0;
  std::int64_t rounds_lost = 0;
  std::int64_t rounds_decided = 0;
};

// Sums over several seeds: from one run to another the rate differs by 5 % (standard deviation over 20 seeds), whatever
// the sixth peer is like, because rounds then begin at other moments.
Sums run_seeds(int peers, int SwarmOptions::*culprits) {
  Sums sums;
  for (std::uint64_t seed = 1; seed <= starling::testing::times<std::uint64_t>(2, 4); ++seed) {
    CAPTURE(seed);
    SwarmOptions options = five_peers(seed);
    options.peers = peers;
    if (culprits != nullptr) options.*culprits = 1;
    const SwarmResult result = run(options);
    sums.samples_per_s += result.samples_per_s_calm;
    sums.rounds_lost += result.rounds_lost;
    sums.rounds_decided += result.rounds_decided;
  }
  return sums;
}

}  // namespace

// Measured over 20 seeds: 1.00 of the rate without the peer that sends garbage, 0.96 of that without the slow one.
TEST_CASE("who sends garbage, and whose line is a hundred times slower than it tells, soon hold up nobody") {
  const Sums without = run_seeds(5, nullptr);
  const Sums garbage = run_seeds(6, &SwarmOptions::garbage_peers);
  CHECK(garbage.samples_per_s >= 0.9 * without.samples_per_s);
  CHECK(garbage.rounds_lost < garbage.rounds_decided / 5);
  const Sums slow = run_seeds(6, &SwarmOptions::slow_peers);
  CHECK(slow.samples_per_s >= 0.9 * without.samples_per_s);
}

TEST_CASE("a coordinator that invents states leads nobody astray, and is followed when it tells the truth") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    CAPTURE(seed);
    SwarmOptions options;
    options.seed = seed;
    options.coordinator_lies = true;
    options.length = std::chrono::seconds(20);
    const SwarmResult result = *run_swarm(options);
    CHECK(result.broken == "");
    CHECK(result.rounds_decided > 10);
  }
}

}  // namespace starling::sim
