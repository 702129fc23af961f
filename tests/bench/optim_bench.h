// starling-bench optim: how near an optimizer's step comes to the memory's speed.
#pragma once

#include "shared/base/result.h"
#include "tests/bench/bench.h"

namespace starling::bench {

struct OptimBenchOptions {
  int layers = 8;  // of a GPT of width 1024: 12.6 million parameters each; 8 are 102 million in all
  int passes = 5;
};

// For each optimizer K that takes elements one by one, on one thread, in CPU time, medians over passes that take turns
// with a memcpy of the parameters: K_gb_s (bytes a step cannot help moving: all it reads and writes, and the gradient
// once more for its norm), K_vs_copy (the same as a share of what memcpy moves, read and written), K_ns (CPU time for a
// parameter). copy_gb_s; muon_gflops (of the matrix products that Muon's step consists of); kernels_avx2 (1: they are
// used).
Result<BenchResult> run_optim_bench(const OptimBenchOptions& options);

}  // namespace starling::bench
