#include "tests/sim/learner.h"

#include <algorithm>
#include <cmath>

#include "shared/base/verify.h"
#include "shared/run/model_layout.h"
#include "tests/sim/quadratic_problem.h"

namespace starling::sim {

Learner::Learner(const wire::RunManifest& manifest, std::span<const float> state)
    : manifest_(manifest),
      outer_(manifest),
      state_(state.begin(), state.end()),
      inner_(wire::local_state_size(manifest)) {
  if (state_.empty()) {
    state_.resize(outer_.state_size());
    std::fill_n(state_.begin(), outer_.parameter_count(), kStart);
  }
  VERIFY(state_.size() == outer_.state_size());
  if (!manifest.local) return;
  local_ = std::make_unique<optim::LocalSteps>(manifest_, agreed(), inner_);
  local_->begin();
  gradient_.resize(outer_.parameter_count());
}

void Learner::load(std::span<const float> state) {
  VERIFY(state.size() == state_.size());
  std::copy(state.begin(), state.end(), state_.begin());
}

void Learner::begin_sum() {
  if (local_) local_->begin();
}

void Learner::train(const wire::SampleRange& samples, std::span<float> sum) {
  if (!local_) return add_gradient(samples, manifest_.seed, agreed(), sum);
  std::fill(gradient_.begin(), gradient_.end(), 0.0F);
  add_gradient(samples, manifest_.seed, own(), gradient_);
  VERIFY(local_->step(samples.round, samples.count, gradient_).ok());
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += gradient_[i];
}

double Learner::consensus_distance(std::span<const float> sum, SampleCount samples, std::span<const float> mean) {
  if (samples == 0) return 0;
  double squares = 0;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const double apart = static_cast<double>(sum[i]) / static_cast<double>(samples) - mean[i];
    squares += apart * apart;
  }
  return std::sqrt(squares / static_cast<double>(mean.size()));
}

void Learner::step(RoundIndex round, std::span<const float> mean) {
  const auto journal = std::make_unique<optim::StepJournal>();
  VERIFY(outer_.step(round, mean, state_, *journal).ok());
}

}  // namespace starling::sim
