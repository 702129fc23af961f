// Our trainer compared with an equal model in a bare LibTorch loop, and in PyTorch if that is installed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "shared/base/result.h"
#include "tests/bench/bench.h"

namespace starling::bench {

struct StepBenchOptions {
  std::vector<std::string> models = {"gpt", "albert", "resnet"};
  int steps = 10;  // steps of each kind, taking turns
  int threads = 1;
  std::string python = "/usr/bin/python3";  // empty, or without PyTorch: not measured
};

// One row per model. Figures: step_s, bare_step_s and python_step_s (medians), ratio_to_bare and ratio_to_python
// (medians over the turns), gflops (of matrix products and convolutions, ours).
Result<BenchResult> run_step_bench(const StepBenchOptions& options);
std::vector<std::string> step_columns();

}  // namespace starling::bench
