#include "tests/sim/teacher_problem.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "shared/base/permutation.h"
#include "shared/base/verify.h"
#include "shared/run/model_layout.h"
#include "shared/swarm/random_stream.h"
#include "tests/sim/normal_values.h"
#include "tests/sim/vector_loops.h"

namespace starling::sim {
namespace {

constexpr std::size_t kInputs = 32, kWidth = 64, kClasses = 10;
constexpr std::size_t kLayers = 3;
constexpr std::array<std::size_t, kLayers + 1> kSizes{kInputs, kWidth, kWidth, kClasses};
// Ratio of the teacher's weights to those that training begins with: its chances then differ from one sample to the
// next, and the likeliest class has about two chances in three.
constexpr float kTeacherScale = 2.0F;
constexpr std::uint64_t kHeldOut = std::uint64_t{1} << 62;
constexpr int kHeldOutSamples = 2000;

// Activations of a sample: [0] its inputs, [1] and [2] hidden, [3] the classes' chances.
using Activations = std::array<std::array<float, kWidth>, kLayers + 1>;

void softmax(float* values) {
  const float largest = *std::max_element(values, values + kClasses);
  float sum = 0;
  for (std::size_t c = 0; c < kClasses; ++c) sum += values[c] = std::exp(values[c] - largest);
  for (std::size_t c = 0; c < kClasses; ++c) values[c] /= sum;
}

std::size_t layer_begin(std::size_t layer) {
  std::size_t begin = 0;
  for (std::size_t l = 0; l < layer; ++l) begin += (kSizes[l] + 1) * kSizes[l + 1];
  return begin;
}

void forward(const float* parameters, Activations& x) {
  for (std::size_t layer = 0; layer < kLayers; ++layer) {
    const std::size_t from = kSizes[layer], to = kSizes[layer + 1];
    const float* weight = parameters + layer_begin(layer);
    const float* bias = weight + from * to;
    for (std::size_t o = 0; o < to; ++o) {
      const float sum = bias[o] + dot(weight + o * from, x[layer].data(), from);
      x[layer + 1][o] = layer + 1 < kLayers ? std::max(sum, 0.0F) : sum;
    }
  }
  softmax(x[kLayers].data());
}

// error: on entry the loss's derivative by the inputs of the softmax.
void backward(const float* parameters, const Activations& x, std::array<float, kWidth> error, float* gradient) {
  for (std::size_t layer = kLayers; layer-- > 0;) {
    const std::size_t from = kSizes[layer], to = kSizes[layer + 1];
    const std::size_t begin = layer_begin(layer);
    std::array<float, kWidth> below{};
    for (std::size_t o = 0; o < to; ++o) {
      if (error[o] == 0) continue;
      add_scaled(gradient + begin + o * from, error[o], x[layer].data(), from);
      gradient[begin + from * to + o] += error[o];
      add_scaled(below.data(), error[o], parameters + begin + o * from, from);
    }
    for (std::size_t i = 0; i < from; ++i) error[i] = x[layer][i] > 0 ? below[i] : 0;
  }
}

struct Sample {
  Activations learner;
  Activations teacher;
  std::size_t answer = 0;
};

Sample draw(std::uint64_t seed, std::uint64_t index, const float* teacher) {
  swarm::RandomStream random(mix64(seed) ^ index);
  Sample sample;
  const std::vector<double> inputs = normal_values(kInputs, random);
  std::copy(inputs.begin(), inputs.end(), sample.learner[0].begin());
  sample.teacher[0] = sample.learner[0];
  forward(teacher, sample.teacher);
  double left = random.uniform();
  while (sample.answer + 1 < kClasses && left >= sample.teacher[kLayers][sample.answer]) {
    left -= sample.teacher[kLayers][sample.answer++];
  }
  return sample;
}

}  // namespace

wire::ModelOptions TeacherProblem::model() {
  wire::ModelOptions model;
  model.architecture = wire::Architecture::mlp;
  model.inputs = kInputs;
  model.layers = kLayers - 1;
  model.width = kWidth;
  model.classes = kClasses;
  return model;
}

wire::OptimizerOptions TeacherProblem::optimizer(wire::OptimizerKind kind) {
  wire::OptimizerOptions options = wire::default_optimizer(kind);
  options.beta2 = 0.999;
  options.weight_decay = 0;
  options.clip_norm = 0;
  return options;
}

TeacherProblem::TeacherProblem(std::uint64_t seed) : seed_(seed) {
  swarm::RandomStream random(mix64(seed));
  for (const wire::ParameterInfo& info : wire::model_layout(model())) {
    const auto bound = static_cast<float>(info.initial_bound) * kTeacherScale;
    for (std::size_t i = 0; i < info.count; ++i) {
      teacher_.push_back(bound * (2 * static_cast<float>(random.uniform()) - 1));
    }
  }
  VERIFY(teacher_.size() == layer_begin(kLayers));
}

void TeacherProblem::add_gradient(std::span<const float> parameters, std::uint64_t first, int count,
                                  std::span<float> gradient) const {
  VERIFY(parameters.size() == teacher_.size() && gradient.size() == teacher_.size());
  for (int k = 0; k < count; ++k) {
    Sample sample = draw(seed_, first + static_cast<std::uint64_t>(k), teacher_.data());
    forward(parameters.data(), sample.learner);
    std::array<float, kWidth> error{};
    std::copy_n(sample.learner[kLayers].begin(), kClasses, error.begin());
    error[sample.answer] -= 1;
    backward(parameters.data(), sample.learner, error, gradient.data());
  }
}

double TeacherProblem::excess_loss(std::span<const float> parameters) const {
  double sum = 0;
  for (int k = 0; k < kHeldOutSamples; ++k) {
    Sample sample = draw(seed_, kHeldOut + static_cast<std::uint64_t>(k), teacher_.data());
    forward(parameters.data(), sample.learner);
    for (std::size_t c = 0; c < kClasses; ++c) {
      const double chance = sample.teacher[kLayers][c];
      const double learned = std::max(sample.learner[kLayers][c], 1e-30F);
      if (chance > 0) sum += chance * std::log(chance / learned);
    }
  }
  return sum / kHeldOutSamples;
}

double TeacherProblem::least_loss() const {
  double sum = 0;
  for (int k = 0; k < kHeldOutSamples; ++k) {
    const Sample sample = draw(seed_, kHeldOut + static_cast<std::uint64_t>(k), teacher_.data());
    for (std::size_t c = 0; c < kClasses; ++c) {
      const double chance = sample.teacher[kLayers][c];
      if (chance > 0) sum -= chance * std::log(chance);
    }
  }
  return sum / kHeldOutSamples;
}

}  // namespace starling::sim
