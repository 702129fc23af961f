// The computing of a simulated volunteer: gradients of a quadratic, local steps where the manifest has them, and the
// common step, by the product's optimizers; as client/training has them.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "client/optim/local_steps.h"
#include "client/optim/optimizer.h"
#include "client/rounds/batch_order.h"
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
  // Parameters that own steps have led to; the run has local steps.
  [[nodiscard]] std::span<float> own() { return local_->parameters(); }

  // A batch of `round` begins. With delayed updates it is computed at the parameters of now, even if a step is taken
  // before train().
  void begin(const rounds::BatchOrder& order, RoundIndex round);
  // Adds the gradient of these samples; with local steps, the growth of samples x displacement by the step on it.
  void train(const wire::SampleRange& samples, std::span<float> sum);
  // Adds the gradient of these samples at other parameters.
  void audit(const wire::SampleRange& samples, std::span<const float> parameters, std::span<float> sum) const;
  // Takes the common step on the round's average (wire::fragment_floats).
  void step(RoundIndex round, std::span<const float> average);
  // Returns how far this volunteer's contribution, a sum over `samples`, is from the mean of all: root mean square.
  [[nodiscard]] static double consensus_distance(std::span<const float> sum, SampleCount samples,
                                                 std::span<const float> mean);
  // Returns the parameters' distance from the optimum: root mean square.
  [[nodiscard]] static double distance(std::span<const float> parameters);

 private:
  void begin_at_agreed();
  void begin_ahead(const rounds::BatchOrder& order, RoundIndex averaged);

  const wire::RunManifest& manifest_;
  optim::Optimizer outer_;
  std::vector<float> state_;
  std::vector<float> inner_;  // the local steps' optimizer vectors
  std::unique_ptr<optim::LocalSteps> local_;
  std::vector<float> gradient_;
  std::vector<float> computed_at_;  // delayed updates without local steps: parameters of the batch under way
  bool stepped_ = false;            // delayed updates: the common step was taken since the last batch began
};

}  // namespace starling::sim
