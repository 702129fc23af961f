#include "tests/sim/learner.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "client/optim/fragment_step.h"
#include "shared/base/verify.h"
#include "shared/run/fragments.h"
#include "shared/run/model_layout.h"
#include "tests/sim/quadratic_problem.h"

namespace starling::sim {

using rounds::BatchOrder;

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

void Learner::begin(const BatchOrder& order, RoundIndex round) {
  const bool stepped = std::exchange(stepped_, false);
  if (order.begin == BatchOrder::Begin::at_agreed) return begin_at_agreed();
  if (stepped) {
    if (local_) {
      local_->merge();
    } else {
      begin_at_agreed();
    }
  }
  if (order.begin == BatchOrder::Begin::ahead) begin_ahead(order, round - 1);
}

void Learner::begin_at_agreed() {
  if (local_) {
    local_->begin();
  } else if (manifest_.round.delay_parameter_updates) {
    computed_at_.assign(agreed().begin(), agreed().end());
  }
}

void Learner::begin_ahead(const BatchOrder& order, RoundIndex averaged) {
  if (local_) {
    local_->cut(averaged);
  } else {
    begin_at_agreed();
  }
  const bool uses_own = !local_ || manifest_.local->eager;
  if (!uses_own || order.own_samples == 0) return;
  std::vector<float> mean(order.own_sum.begin(), order.own_sum.end());
  for (float& value : mean) value /= static_cast<float>(order.own_samples);
  std::vector<float> expected(outer_.parameter_count());
  VERIFY(outer_.parameters_after(averaged, mean, state_, expected).ok());
  if (local_) {
    local_->cut_to(expected);
  } else {
    computed_at_ = std::move(expected);
  }
}

void Learner::train(const wire::SampleRange& samples, std::span<float> sum) {
  if (!local_) {
    return add_gradient(samples, manifest_.seed, manifest_.round.delay_parameter_updates ? computed_at_ : agreed(),
                        sum);
  }
  std::fill(gradient_.begin(), gradient_.end(), 0.0F);
  add_gradient(samples, manifest_.seed, own(), gradient_);
  VERIFY(local_->step(samples.round, samples.count, gradient_).ok());
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += gradient_[i];
}

void Learner::audit(const wire::SampleRange& samples, std::span<const float> parameters, std::span<float> sum) const {
  add_gradient(samples, manifest_.seed, parameters, sum);
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

double Learner::distance(std::span<const float> parameters) {
  double squares = 0;
  for (const float value : parameters) squares += static_cast<double>(value) * value;
  return std::sqrt(squares / static_cast<double>(parameters.size()));
}

void Learner::step(RoundIndex round, std::span<const float> average) {
  if (wire::fragments(manifest_) > 1) {
    VERIFY(optim::step_fragment(manifest_, round, average, state_).ok());
  } else {
    const auto journal = std::make_unique<optim::StepJournal>();
    const bool stepped = outer_.step(round, average, state_, *journal).ok();
    // Without a bound, what liars bring leads to numbers that nobody can step on: then the parameters stay.
    VERIFY(stepped || manifest_.round.averaging.aggregation == wire::Aggregation::mean);
  }
  stepped_ = manifest_.round.delay_parameter_updates;
}

}  // namespace starling::sim
