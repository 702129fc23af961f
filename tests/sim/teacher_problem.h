// A small learning problem for experiments about optimizers: a perceptron learns the answers that another one, drawn
// from the seed, gives at random with the chances that it computes. So the least possible loss is known, gradients of
// few samples are as noisy as those of language, and samples never repeat. The gradient is written out by hand;
// parameters have the layout of the product's "mlp".
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "shared/run/model_options.h"
#include "shared/run/optimizer_options.h"

namespace starling::sim {

class TeacherProblem {
 public:
  explicit TeacherProblem(std::uint64_t seed);

  // 32 inputs, two hidden layers of 64, 10 classes.
  static wire::ModelOptions model();
  // Returns the optimizer of the experiments: a kind's defaults except for β2 = 0.999, without decay of weights,
  // because the data never repeat, and without clipping.
  static wire::OptimizerOptions optimizer(wire::OptimizerKind kind);

  // Adds the loss's gradient, summed over samples first … first + count - 1, which are equal for everybody.
  void add_gradient(std::span<const float> parameters, std::uint64_t first, int count, std::span<float> gradient) const;

  // Returns the mean divergence (Kullback-Leibler) of the learner's chances from the teacher's on samples that nobody
  // trains on, in nats: 0 for a learner that knows all there is to know.
  [[nodiscard]] double excess_loss(std::span<const float> parameters) const;
  // Returns the loss of such a learner: the teacher's own entropy on those samples, in nats.
  [[nodiscard]] double least_loss() const;

 private:
  std::uint64_t seed_;
  std::vector<float> teacher_;
};

}  // namespace starling::sim
