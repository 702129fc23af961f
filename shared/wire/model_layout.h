// What can be known of a model without building it: its parameters in their order in the flat vector,
// and the cost of a sample. Trainer, daemon and coordinator must agree on both.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "shared/wire/run_manifest.h"

namespace starling::wire {

// A position's input is the sum of the embeddings of its own byte and of so many bytes before it, each from a
// table of its own. Which letters stand together is most of what there is to learn about bytes at first, and
// attention alone takes long to find it.
constexpr int kRecentBytes = 3;

// One named tensor of the flat parameter vector.
struct ParameterInfo {
  std::string name;                 // "block2.qkv.weight"
  std::vector<std::int64_t> shape;  // row-major
  std::size_t offset = 0;           // of its first float in the flat vector
  std::size_t count = 0;            // product of shape
  bool decayed = false;             // takes part in weight decay (matrices do, norms and biases do not)
  bool hidden = false;              // a matrix from one hidden layer to another: no embedding, no output layer
  double initial_bound = 0;         // initial values are uniform in [-bound, bound); 0: constant
  float initial_value = 0;          // the constant
};

// Parameters of the model in the order of the flat vector, without gaps.
std::vector<ParameterInfo> model_layout(const ModelOptions& model);
std::size_t parameter_count(const ModelOptions& model);
// Floats that a replica must agree on with all others: [parameters | the optimizer's vectors].
std::size_t state_size(const RunManifest& manifest);

// Floating-point operations of one sample (context bytes), forward and backward: twice the multiplications
// of every matrix product, backward at twice the forward. Norms and softmax are left out.
double flops_per_sample(const ModelOptions& model);

}  // namespace starling::wire
