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

LocalSteps::LocalSteps(const wire::RunManifest& manifest, std::span<const float> agreed, std::span<float> state)
    : optimizer_(inner(manifest)),
      merge_alpha_(static_cast<float>(manifest.local->merge_alpha)),
      agreed_(agreed),
      state_(state),
      told_(optimizer_.parameter_count()),
      kept_base_(manifest.delay_parameter_updates ? optimizer_.parameter_count() : 0),
      journal_(std::make_unique<StepJournal>()) {
  VERIFY(agreed_.size() == told_.size() && state_.size() == optimizer_.state_size());
  for (int i = 0; i < wire::fragments(manifest); ++i) fragments_.push_back(wire::fragment_of(manifest, i));
  samples_.resize(fragments_.size());
  std::fill(state_.begin(), state_.end(), 0.0F);
}

void LocalSteps::begin() {
  if (!kept_base_.empty()) std::copy(agreed_.begin(), agreed_.end(), kept_base_.begin());
  begin_at(base());
}

void LocalSteps::begin_at(std::span<const float> base) {
  std::copy(base.begin(), base.end(), state_.begin());
  std::copy(base.begin(), base.end(), told_.begin());
  std::fill(samples_.begin(), samples_.end(), 0);
}

void LocalSteps::cut(RoundIndex round) {
  VERIFY(!kept_base_.empty());
  const std::size_t number = static_cast<std::size_t>(round) % fragments_.size();
  const std::span<const float> told = std::span(told_).subspan(fragments_[number].begin, fragments_[number].count);
  std::copy(told.begin(), told.end(), kept_base_.begin() + static_cast<std::ptrdiff_t>(fragments_[number].begin));
  samples_[number] = 0;
}

void LocalSteps::cut_to(std::span<const float> expected) {
  VERIFY(expected.size() == kept_base_.size());
  std::copy(expected.begin(), expected.end(), kept_base_.begin());
  begin_at(kept_base_);
}

void LocalSteps::merge() {
  VERIFY(!kept_base_.empty());
  for (std::size_t i = 0; i < told_.size(); ++i) {
    const float moved = agreed_[i] - kept_base_[i];
    told_[i] += moved;
    state_[i] += (1.0F - merge_alpha_) * moved;
    kept_base_[i] = agreed_[i];
  }
}

Status LocalSteps::step(RoundIndex round, SampleCount samples, std::span<float> gradient) {
  VERIFY(samples > 0 && gradient.size() == told_.size());
  const std::span<const float> from = base();
  const float share = 1.0F / static_cast<float>(samples);
  for (float& value : gradient) value *= share;
  journal_->clear();
  STARLING_TRY(optimizer_.step_at(optimizer_.learning_rate(round), taken_, gradient, state_, *journal_));
  const auto more = static_cast<float>(samples);
  float wrong = 0;  // stays 0 as long as every value is finite
  for (std::size_t number = 0; number < fragments_.size(); ++number) {
    const auto all = static_cast<float>(samples_[number] + samples);
    const std::size_t end = fragments_[number].begin + fragments_[number].count;
    for (std::size_t i = fragments_[number].begin; i < end; ++i) {
      gradient[i] = more * (from[i] - told_[i]) + all * (told_[i] - state_[i]);
      told_[i] = state_[i];
      wrong += gradient[i] * 0.0F;
    }
  }
  if (!std::isfinite(wrong)) {
    std::fill(state_.begin(), state_.end(), 0.0F);
    taken_ = 0;
    begin_at(from);
    return Error{ErrorCode::corrupt, "local step of round " + std::to_string(round) +
                                         ": it left the finite numbers: local.schedule.learning_rate may be too high"};
  }
  ++taken_;
  for (SampleCount& each : samples_) each += samples;
  return {};
}

}  // namespace starling::optim
