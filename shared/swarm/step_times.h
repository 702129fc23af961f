// When single steps end, of workers whose computing takes longer now and then: recurrences for what Wang et al.,
// ICLR 2025 (arXiv 2410.11998), find to decide: overlap, links' cost and jitter. runtime_model.h has whole rounds, in
// closed form. The recurrences are our own, held to the figures that are published (docs/experiments.md).
// Gradients become ready in buckets, last layers first, and each bucket travels as soon as it may. Worker i's step
// takes `slowdown[i]` times what StepCosts says. Seconds from the beginning. Pure; one thread.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "shared/swarm/group_formation.h"

namespace starling::swarm {

struct StepCosts {
  double forward_s = 0;
  std::vector<double> backward_s;       // of each bucket, in the order in which they become ready
  std::vector<double> communication_s;  // of each bucket, once everybody concerned has it; as many
};

// Of a ring all-reduce of n workers: 2 (n - 1) / n vectors, and 2 (n - 1) times the way to a neighbour.
double ring_all_reduce_s(std::size_t workers, double bytes, double bytes_per_s, double latency_s);

// Gradients are averaged over everybody, bucket after bucket, and nobody steps before the last of them is there.
class AllReduceSteps {
 public:
  explicit AllReduceSteps(StepCosts costs);

  // The next step of so many workers. When it is over, for everybody.
  double step(std::span<const double> slowdown);

 private:
  StepCosts costs_;
  double now_s_ = 0;
};

// Parameters of the step before are mixed in small groups beside the step's computing. A worker waits, before it
// updates a bucket, for that bucket's last mixing alone; a group mixes a bucket when all its members have updated it
// and are not busy with another.
class DecentralizedSteps {
 public:
  DecentralizedSteps(StepCosts costs, std::size_t workers);

  // The next step, whose parameters are mixed in these groups. When it is over, on the average of all workers.
  double step(std::span<const double> slowdown, const Groups& groups);

 private:
  [[nodiscard]] double& mixed_s(std::size_t worker, std::size_t bucket) {
    return mixed_s_[worker * costs_.backward_s.size() + bucket];
  }

  StepCosts costs_;
  std::vector<double> now_s_;        // of each worker's computing
  std::vector<double> mixed_s_;      // by worker and bucket
  std::vector<double> line_free_s_;  // of each worker
};

}  // namespace starling::swarm
