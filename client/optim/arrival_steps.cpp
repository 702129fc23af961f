#include "client/optim/arrival_steps.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "shared/base/verify.h"

namespace starling::optim {
namespace {

Optimizer inner_optimizer(const wire::RunManifest& cell) {
  VERIFY(cell.local.has_value());
  return {cell.local->optimizer, cell.local->schedule, wire::model_layout(cell.model)};
}

}  // namespace

ArrivalSteps::ArrivalSteps(const wire::RunManifest& cell, std::span<const float> agreed, std::span<float> own)
    : optimizer_(inner_optimizer(cell)),
      agreed_(agreed),
      own_(own),
      taken_(agreed.size()),
      journal_(std::make_unique<StepJournal>()) {
  VERIFY(agreed_.size() == optimizer_.parameter_count() && own_.size() == optimizer_.state_size());
  std::fill(own_.begin(), own_.end(), 0.0F);
}

void ArrivalSteps::begin() {
  std::copy(agreed_.begin(), agreed_.end(), own_.begin());
  std::copy(agreed_.begin(), agreed_.end(), taken_.begin());
  taken_samples_ = 0;
  samples_ = 0;
}

Status ArrivalSteps::step(RoundIndex round, double samples, std::span<float> gradient) {
  VERIFY(samples > 0 && gradient.size() == agreed_.size());
  const auto share = static_cast<float>(1.0 / samples);
  for (float& value : gradient) value *= share;
  journal_->clear();
  const Status stepped = optimizer_.step_at(optimizer_.learning_rate(round), steps_, gradient, own_, *journal_);
  if (!stepped.ok()) return stepped.error().prefixed("step on arrival in round " + std::to_string(round));
  ++steps_;
  float wrong = 0;
  for (const float value : parameters()) wrong += value * 0.0F;
  if (!std::isfinite(wrong)) {
    std::fill(own_.begin(), own_.end(), 0.0F);
    steps_ = 0;
    begin();
    return Error{ErrorCode::corrupt, "step on arrival in round " + std::to_string(round) +
                                         ": it left the finite numbers: schedule.learning_rate may be too high"};
  }
  samples_ += samples;
  return {};
}

SampleCount ArrivalSteps::take(std::span<float> into) {
  VERIFY(into.size() == agreed_.size());
  const auto whole = static_cast<SampleCount>(samples_);
  if (whole <= taken_samples_) return 0;
  const auto now = static_cast<float>(whole);
  const auto before = static_cast<float>(taken_samples_);
  const std::span<const float> own = parameters();
  for (std::size_t i = 0; i < own.size(); ++i) {
    into[i] += now * (agreed_[i] - own[i]) - before * (agreed_[i] - taken_[i]);
  }
  std::copy(own.begin(), own.end(), taken_.begin());
  return whole - std::exchange(taken_samples_, whole);
}

void ArrivalSteps::go_on() {
  const std::span<float> own = parameters();
  for (std::size_t i = 0; i < own.size(); ++i) own[i] += agreed_[i] - taken_[i];
  std::copy(agreed_.begin(), agreed_.end(), taken_.begin());
  samples_ -= static_cast<double>(std::exchange(taken_samples_, 0));
}

}  // namespace starling::optim
