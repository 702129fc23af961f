// The bare loop once more, in a Python of its own (python_loop.py), which most people would use for training.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "client/models/model.h"
#include "shared/base/result.h"
#include "shared/run/run_manifest.h"
#include "tests/bench/process_pool.h"
#include "tests/support/temp_dir.h"

namespace starling::bench {

class PythonLoop {
 public:
  // Null if `python` is empty, or has no PyTorch. Each step takes all of the batches.
  static Result<std::unique_ptr<PythonLoop>> start(const std::string& python, int threads,
                                                   const wire::RunManifest& manifest, std::span<const float> parameters,
                                                   const std::vector<models::Batch>& batches);

  // Mean loss over the first batch's samples, at the given parameters.
  [[nodiscard]] double first_loss() const { return first_loss_; }
  // Duration of a step in seconds, by Python's clock.
  Result<double> step();

 private:
  PythonLoop() = default;
  Result<double> number();

  testing::TempDir folder_;  // holds its inputs
  std::unique_ptr<ChildProcess> child_;
  double first_loss_ = 0;
};

}  // namespace starling::bench
