// The end times of single steps, for workers whose computing takes longer now and then: recurrences for the factors
// that decide by Wang et al., ICLR 2025 (arXiv 2410.11998): overlap, links' cost and jitter.
// shared/swarm/runtime_model.h has whole rounds, in closed form. The recurrences are our own, held to the figures that
// are published (docs/experiments.md). Gradients become ready in buckets, last layers first, and each bucket travels as
// soon as it may. Worker i's step takes `slowdown[i]` times the StepCosts. Seconds from the beginning. Pure; one
// thread.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "shared/swarm/group_formation.h"

namespace starling::sim {

// Times of one step of a worker that nothing slows down.
struct StepCosts {
  double forward_s = 0;
  std::vector<double> backward_s;       // by bucket, in the order in which they become ready
  std::vector<double> communication_s;  // by bucket, once everybody concerned has it; equally many
};

// Returns the time of a ring all-reduce of n workers: 2 (n - 1) / n vectors, and 2 (n - 1) times the way to a
// neighbour.
double ring_all_reduce_s(std::size_t workers, double bytes, double bytes_per_s, double latency_s);

// Steps with gradients averaged over everybody, bucket after bucket; nobody steps before the last of them is there.
class AllReduceSteps {
 public:
  explicit AllReduceSteps(StepCosts costs);

  // Takes the next step of these workers. Returns when it is over, for everybody.
  double step(std::span<const double> slowdown);

 private:
  StepCosts costs_;
  double now_s_ = 0;
};

// Steps with gossip: parameters of the step before are averaged in small groups beside the step's computing. A worker
// waits, before it updates a bucket, for that bucket's last average alone; a group averages a bucket when all its
// members have updated it and are not busy with another.
class DecentralizedSteps {
 public:
  DecentralizedSteps(StepCosts costs, std::size_t workers);

  // Takes the next step, whose parameters are averaged in these groups. Returns when it is over, on the mean of all
  // workers.
  double step(std::span<const double> slowdown, const swarm::Groups& groups);

 private:
  [[nodiscard]] double& mixed_s(std::size_t worker, std::size_t bucket) {
    return mixed_s_[worker * costs_.backward_s.size() + bucket];
  }

  StepCosts costs_;
  std::vector<double> now_s_;        // when each worker's computing ends
  std::vector<double> mixed_s_;      // by worker and bucket
  std::vector<double> line_free_s_;  // when each worker's line is free
};

}  // namespace starling::sim
