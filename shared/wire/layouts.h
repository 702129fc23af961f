// What each architecture is made of; the table over them is in model_layout.cpp.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "shared/wire/model_layout.h"

namespace starling::wire {

class LayoutBuilder {
 public:
  void matrix(std::string name, std::int64_t rows, std::int64_t columns, double bound) {
    add({std::move(name), {rows, columns}, 0, 0, true, true, bound, 0});
  }
  // From words or positions to the model's width, or from it to what the model tells.
  void embedding(std::string name, std::int64_t rows, std::int64_t columns, double bound) {
    add({std::move(name), {rows, columns}, 0, 0, true, false, bound, 0});
  }
  void vector(std::string name, std::int64_t size, float value) {
    add({std::move(name), {size}, 0, 0, false, false, 0, value});
  }
  // Of a model that says nothing more: tensors of two dimensions and more decay, as in all others.
  void tensor(std::string name, std::vector<std::int64_t> shape) {
    const bool decayed = shape.size() > 1;
    add({std::move(name), std::move(shape), 0, 0, decayed, false, 0, 0});
  }
  std::vector<ParameterInfo> take() { return std::move(layout_); }

 private:
  void add(ParameterInfo info) {
    info.offset = next_;
    info.count = 1;
    for (const std::int64_t size : info.shape) info.count *= static_cast<std::size_t>(size);
    next_ += info.count;
    layout_.push_back(std::move(info));
  }

  std::vector<ParameterInfo> layout_;
  std::size_t next_ = 0;
};

// Uniform values in ±bound have a deviation of bound / sqrt(3).
inline double uniform_bound(double deviation) { return deviation * std::sqrt(3.0); }

// Multiplications become operations: each is a sum as well, and on the way back each product of matrices has two of
// its own kind, but one where the values themselves are multiplied: nobody asks for their gradient.
inline double flops_of(double multiplications, double of_the_values = 0) {
  return 2 * (3 * multiplications + 2 * of_the_values);
}

std::vector<ParameterInfo> gpt_layout(const ModelOptions& model);
double gpt_flops(const ModelOptions& model);
std::vector<ParameterInfo> albert_layout(const ModelOptions& model);
double albert_flops(const ModelOptions& model);
std::vector<ParameterInfo> resnet_layout(const ModelOptions& model);
double resnet_flops(const ModelOptions& model);
// As the manifest lists them; the program itself is not looked at, so what a sample costs is not known: 0.
std::vector<ParameterInfo> script_layout(const ModelOptions& model);
double script_flops(const ModelOptions& model);
double script_activations(const ModelOptions& model);  // as its operator says
std::vector<ParameterInfo> mlp_layout(const ModelOptions& model);
double mlp_flops(const ModelOptions& model);

// Floats that a sample's way back asks for once it has gone forward: the larger results of each layer.
double gpt_activations(const ModelOptions& model);
double albert_activations(const ModelOptions& model);
double resnet_activations(const ModelOptions& model);
double mlp_activations(const ModelOptions& model);

}  // namespace starling::wire
