// A model's named tensors: views into flat vectors that belong to somebody else.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <unordered_map>

#include "shared/run/model_options.h"

namespace starling::models {

class Parameters {
 public:
  // `parameters` and `gradient` are one-dimensional tensors of wire::parameter_count(model) elements, on one device.
  // Backward adds to `gradient`.
  Parameters(const wire::ModelOptions& model, const at::Tensor& parameters, const at::Tensor& gradient);

  // The tensor of that name in wire::model_layout.
  [[nodiscard]] const at::Tensor& operator[](const std::string& name) const { return tensors_.at(name); }

  // x [rows, in] times NAME.weight.
  [[nodiscard]] at::Tensor product(const at::Tensor& x, const std::string& name) const;
  // x [rows, in] times NAME.weight, plus NAME.bias.
  [[nodiscard]] at::Tensor linear(const at::Tensor& x, const std::string& name) const;
  // A perceptron with a gate (SwiGLU): NAME.mlp_in holds the gate's rows, then as many others.
  [[nodiscard]] at::Tensor gated_perceptron(const at::Tensor& x, const std::string& name) const;
  // Normalises each row of x to mean 0 and variance 1, times NAME.weight, plus NAME.bias.
  [[nodiscard]] at::Tensor norm(const at::Tensor& x, const std::string& name, double epsilon = 1e-5) const;
  // Divides each row of x by its root mean square, times NAME.weight (Zhang and Sennrich, RMSNorm, NeurIPS 2019).
  [[nodiscard]] at::Tensor rms_norm(const at::Tensor& x, const std::string& name, double epsilon = 1e-5) const;

 private:
  std::unordered_map<std::string, at::Tensor> tensors_;
};

}  // namespace starling::models
