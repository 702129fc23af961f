#include "client/optim/local_steps.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "shared/base/verify.h"

namespace starling::optim {
namespace {

// The inner optimizer in an outer one's place, whose model it steps.
wire::RunManifest inner(wire::RunManifest manifest) {
  VERIFY(manifest.local.has_value());
  manifest.optimizer = manifest.local->optimizer;
  manifest.schedule = manifest.local->schedule;
  return manifest;
}

}  // namespace

LocalSteps::LocalSteps(const wire::RunManifest& manifest, std::span<float> state)
    : optimizer_(inner(manifest)),
      state_(state),
      told_(optimizer_.parameter_count()),
      journal_(std::make_unique<StepJournal>()) {
  VERIFY(state_.size() == optimizer_.state_size());
  std::fill(state_.begin(), state_.end(), 0.0F);
}

void LocalSteps::begin(std::span<const float> agreed) {
  VERIFY(agreed.size() == told_.size());
  std::copy(agreed.begin(), agreed.end(), state_.begin());
  std::copy(agreed.begin(), agreed.end(), told_.begin());
  samples_ = 0;
}

Status LocalSteps::step(RoundIndex round, SampleCount samples, std::span<const float> agreed,
                        std::span<float> gradient) {
  VERIFY(samples > 0 && agreed.size() == told_.size() && gradient.size() == told_.size());
  const float share = 1.0F / static_cast<float>(samples);
  for (float& value : gradient) value *= share;
  journal_->clear();
  STARLING_TRY(optimizer_.step_at(optimizer_.learning_rate(round), taken_, gradient, state_, *journal_));
  const auto more = static_cast<float>(samples);
  const auto all = static_cast<float>(samples_ + samples);
  float wrong = 0;  // stays 0 as long as every value is finite
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    gradient[i] = more * (agreed[i] - told_[i]) + all * (told_[i] - state_[i]);
    told_[i] = state_[i];
    wrong += gradient[i] * 0.0F;
  }
  if (!std::isfinite(wrong)) {
    std::fill(state_.begin(), state_.end(), 0.0F);
    taken_ = 0;
    begin(agreed);
    return Error{ErrorCode::corrupt, "local step of round " + std::to_string(round) +
                                         ": it left the finite numbers: local.schedule.learning_rate may be too high"};
  }
  ++taken_;
  samples_ += samples;
  return {};
}

}  // namespace starling::optim
