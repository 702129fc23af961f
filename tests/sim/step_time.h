// The mean time of a step, by the recurrences of step_recurrences.h: all-reduce that sends finished
// buckets beside the rest of the backward pass, and decentralized steps that gossip beside everything.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shared/swarm/group_formation.h"

namespace starling::sim {

struct StepTimeSetup {
  std::size_t workers = 16;
  double forward_ms = 100.0 / 3;
  double backward_ms = 200.0 / 3;
  double all_reduce_ms = 100;  // for the whole vector
  double gossip_ms = 100;      // for the whole vector
  swarm::FormationSpec topology{swarm::FormationSpec::Kind::exponential_pairs, {}};
  std::size_t buckets = 10;     // number of equal size
  double jitter = 0;            // standard deviation of a step's computing, over its mean
  double straggler_rate = 0;    // chance of each step of each worker to be slow
  double straggler_factor = 5;  // a slow step computes this many times as long
  int steps = 200;
};

struct StepTime {
  double all_reduce_ms = 0;
  double decentralized_ms = 0;
};
// Equal arguments give equal times.
StepTime step_time(const StepTimeSetup& setup, std::uint64_t seed);

// Returns the step times without jitter and stragglers, in closed form.
StepTime undisturbed_step_time(const StepTimeSetup& setup);

}  // namespace starling::sim
