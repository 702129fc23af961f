// An operator's own model: a TorchScript program whose forward(batch…) returns the mean loss of the batch's samples.
#pragma once

#include <string>

#include "client/models/model.h"

namespace starling::models {

// make_model's documentation lists the exceptions of LibTorch. This also throws std::runtime_error for a program whose
// parameters are not those of the manifest.
std::unique_ptr<Model> load_script(const wire::ModelOptions& model, const at::Tensor& parameters,
                                   const at::Tensor& gradient, std::span<const std::uint8_t> program);

// Name of an operator by which the program draws random numbers in training, such as "aten::dropout"; empty: none.
// Others cannot compute such a program's gradients again. Throws as LibTorch does.
std::string random_operator_of(std::span<const std::uint8_t> program);

// Shape of a sample of the run's data: a number of tokens, each with the next one to predict, or values of a shape and
// a class.
struct SampleShape {
  std::int64_t tokens = 0;
  std::vector<std::int64_t> values;
};

// The cost of one sample, by which the run's manifest tells volunteers the time and the memory that a batch takes.
struct SampleCost {
  double flops = 0;                   // operations of matrix products and convolutions, as in wire::flops_per_sample
  std::int64_t activation_bytes = 0;  // the field of wire::ScriptModel
};
// Counts the cost of forward and backward of a batch of one sample, call by call. Throws as LibTorch does.
SampleCost count_sample(std::span<const std::uint8_t> program, const SampleShape& sample);

}  // namespace starling::models
