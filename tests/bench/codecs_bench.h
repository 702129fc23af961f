// starling-bench codecs: speed of encoding and decoding floats on one core, and the loss of accuracy.
#pragma once

#include "shared/base/result.h"
#include "tests/bench/bench.h"

namespace starling::bench {

struct CodecsOptions {
  std::int64_t floats = 4 << 20;
  std::int64_t segment_floats = 1 << 15;
  int passes = 7;
  int rank = 4;  // rank of PowerSGD's factors
};

// Figures for every codec C, in CPU time of this thread, medians over passes that take turns with a memcpy of as many
// floats: C_encode_gb_s, C_add_gb_s (decoding into a sum, as owners do), C_decode_gb_s and C_both_gb_s (encode, then
// add), all in GB of fp32; C_vs_memcpy (both, relative to memcpy's speed); C_bytes_per_float; C_worst (the largest
// error relative to the documented bound; for sparse, to the whole vector's norm). memcpy_gb_s, kernels_avx2 (1: they
// are used). For low-rank products of matrices of 512 columns: power_sgd_project_gb_s (both projections, which are
// contributed), power_sgd_finish_gb_s (the averaged gradient, the residual and the next factors), power_sgd_both_gb_s
// and power_sgd_bytes_per_float. For sketches (shared/swarm/sketch.h) of a million floats, segment by segment:
// sketch_ms, as this processor does it, and sketch_portable_ms.
Result<BenchResult> run_codecs_bench(const CodecsOptions& options);

}  // namespace starling::bench
