// Our trainer beside a bare LibTorch loop of the same model.
#pragma once

#include "shared/base/result.h"
#include "shared/wire/run_manifest.h"
#include "tests/bench/bench.h"

namespace starling::bench {

struct StepBenchOptions {
  wire::ModelOptions model;
  int micro_batch = 8;  // samples
  int micro_batches_a_step = 4;
  int steps = 20;  // of each kind, taking turns
  int threads = 1;
};

// Figures: step_s and bare_step_s (medians), ratio_to_bare (median over the turns), tokens_per_s,
// bare_tokens_per_s, gflops (of matrix products, ours).
Result<BenchResult> run_step_bench(const StepBenchOptions& options);

}  // namespace starling::bench
