// A model of the operator's own: a TorchScript program whose forward(batch…) returns the mean loss of the batch's
// samples.
#pragma once

#include "client/models/model.h"

namespace starling::models {

// As make_model, which says what it throws. Beside LibTorch's: std::runtime_error for a program whose parameters are
// not those of the manifest.
std::unique_ptr<Model> load_script(const wire::ModelOptions& model, const at::Tensor& parameters,
                                   const at::Tensor& gradient, std::span<const std::uint8_t> program);

// What a sample of the run's data is: so many words, each with the next one to guess, or values of a shape and a class.
struct SampleShape {
  std::int64_t words = 0;
  std::vector<std::int64_t> values;
};

struct SampleCost {
  double flops = 0;                   // of products of matrices and convolutions, as wire::flops_per_sample has it
  std::int64_t activation_bytes = 0;  // wire::ScriptModel
};
// Of forward and backward of a batch of one sample, counted call by call. Throws as LibTorch does.
SampleCost count_sample(std::span<const std::uint8_t> program, const SampleShape& sample);

}  // namespace starling::models
