// A pre-norm causal transformer over bytes whose parameters and gradients are views into flat vectors. Its
// perceptrons square what a rectifier lets through (So et al., Primer, NeurIPS 2021), which learns faster than
// GELU here and costs less.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <unordered_map>

#include "shared/wire/run_manifest.h"

namespace starling::models {

class Gpt {
 public:
  // `parameters` and `gradient`: one-dimensional float tensors of wire::parameter_count(model) elements, on
  // the same device; the model keeps views of both. Backward adds to `gradient`.
  Gpt(const wire::ModelOptions& model, const at::Tensor& parameters, const at::Tensor& gradient);

  // Scores of the next byte at every position: tokens [batch, length <= context] of integers to
  // [batch · length, vocabulary].
  [[nodiscard]] at::Tensor logits(const at::Tensor& tokens) const;

  // Nats per predicted byte, summed over the batch's samples. Targets are shaped like tokens.
  [[nodiscard]] at::Tensor loss(const at::Tensor& tokens, const at::Tensor& targets) const;

 private:
  [[nodiscard]] const at::Tensor& parameter(const std::string& name) const { return parameters_.at(name); }
  [[nodiscard]] at::Tensor embed(const at::Tensor& tokens) const;
  [[nodiscard]] at::Tensor norm(const at::Tensor& x, const std::string& name) const;
  [[nodiscard]] at::Tensor linear(const at::Tensor& x, const std::string& name) const;

  wire::ModelOptions model_;
  std::unordered_map<std::string, at::Tensor> parameters_;  // by their name in wire::model_layout
};

}  // namespace starling::models
