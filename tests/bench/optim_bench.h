// starling-bench optim: speed of an optimizer's step relative to the memory's.
#pragma once

#include "shared/base/result.h"
#include "tests/bench/bench.h"

namespace starling::bench {

struct OptimBenchOptions {
  int layers = 8;  // layers of a GPT of width 1024: 12.6 million parameters each; 8 are 102 million in all
  int passes = 5;
};

// Figures for each optimizer K that takes elements one by one, on one thread, in CPU time, medians over passes that
// take turns with a memcpy of the parameters: K_gb_s (bytes that a step must move: all that it reads and writes, and
// the gradient once more for its norm), K_vs_copy (these bytes relative to those that memcpy moves, read and written),
// K_ns (CPU time per parameter). copy_gb_s; muon_gflops (of the matrix products in Muon's step); kernels_avx2 (1: they
// are used).
Result<BenchResult> run_optim_bench(const OptimBenchOptions& options);

}  // namespace starling::bench
