// An elastic swarm beside one process that never heard of it (DeDLOC, arXiv 2106.10207): peers of unequal speed join,
// leave and die, average their gradients by the product's engine, and step each by itself; the process takes the very
// same samples in one batch a round. tests/golden/elastic_test.cpp does this with a real model and every optimizer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/run/optimizer_options.h"

namespace starling::sim {

struct ElasticSetup {
  wire::OptimizerKind optimizer = wire::OptimizerKind::adamw;
  double learning_rate = 4e-3;  // constant
  int rounds = 50;
};

struct ElasticResult {
  std::vector<double> apart;  // after each round: the largest difference of a parameter from the process's
  double moved = 0;           // the largest displacement of a parameter from the beginning
  int members_least = 0;      // fewest members in a round
  int members_most = 0;
  int joins = 0;
  int leaves = 0;
  int deaths = 0;                // in the middle of an averaging
  SampleCount samples = 0;       // samples that the swarm computed, in whole rounds
  double swarm_excess_loss = 0;  // nats, in the end (tests/sim/teacher_problem.h)
  double process_excess_loss = 0;
};

// Equal arguments give equal results. internal when a survivor of an averaging has no result, or when states differ by
// a bit.
Result<ElasticResult> train_elastically(const ElasticSetup& setup, std::uint64_t seed);

}  // namespace starling::sim
