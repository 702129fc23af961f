// The computing of a simulated volunteer: gradients of a quadratic, local steps where the manifest has them, and the
// common step, by the product's optimizers.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "client/optim/local_steps.h"
#include "client/optim/optimizer.h"
#include "shared/run/run_manifest.h"
#include "shared/run/training_data.h"

namespace starling::sim {

class Learner {
 public:
  // state: wire::state_size floats; empty: that of round 0. `manifest` outlives this.
  Learner(const wire::RunManifest& manifest, std::span<const float> state);
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;

  // The state that all replicas agree on: [parameters | the common step's moments].
  [[nodiscard]] const std::vector<float>& state() const { return state_; }
  [[nodiscard]] std::span<const float> agreed() const { return std::span(state_).first(outer_.parameter_count()); }
  // Loads a state of the present one's length.
  void load(std::span<const float> state);
  // Parameters that own steps have led to; without local steps, the agreed ones.
  [[nodiscard]] std::span<float> own() {
    return local_ ? local_->parameters() : std::span(state_).first(agreed().size());
  }

  // Begins a new sum: local steps go back to the agreed parameters.
  void begin_sum();
  // Adds the gradient of these samples; with local steps, the growth of samples x displacement by the step on it.
  void train(const wire::SampleRange& samples, std::span<float> sum);
  // Returns how far this volunteer's contribution, a sum over `samples`, is from the mean of all: root mean square.
  [[nodiscard]] static double consensus_distance(std::span<const float> sum, SampleCount samples,
                                                 std::span<const float> mean);
  void step(RoundIndex round, std::span<const float> mean);

 private:
  const wire::RunManifest& manifest_;
  optim::Optimizer outer_;
  std::vector<float> state_;
  std::vector<float> inner_;  // the local steps' optimizer vectors
  std::unique_ptr<optim::LocalSteps> local_;
  std::vector<float> gradient_;
};

}  // namespace starling::sim
