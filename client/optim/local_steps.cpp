#include "client/optim/local_steps.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "shared/base/verify.h"

namespace starling::optim {
namespace {

// The manifest with the inner optimizer and schedule in place of the outer ones.
wire::RunManifest inner(wire::RunManifest manifest) {
  VERIFY(manifest.local.has_value());
  manifest.optimizer = manifest.local->optimizer;
  manifest.schedule = manifest.local->schedule;
  return manifest;
}

std::vector<wire::Bucket> buckets_of(const wire::RunManifest& manifest) {
  if (manifest.local->partners) return wire::buckets(manifest.model);
  return {{0, 0, wire::parameter_count(manifest.model)}};
}

// Tensors of the bucket, with offsets from its start.
std::vector<wire::ParameterInfo> layout_in(const wire::Bucket& bucket, const wire::ModelOptions& model) {
  std::vector<wire::ParameterInfo> layout;
  for (wire::ParameterInfo& info : wire::model_layout(model)) {
    if (info.offset < bucket.begin || info.offset >= bucket.begin + bucket.count) continue;
    info.offset -= bucket.begin;
    layout.push_back(std::move(info));
  }
  return layout;
}

}  // namespace

LocalSteps::LocalSteps(const wire::RunManifest& manifest, std::span<const float> agreed, std::span<float> state)
    : optimizer_(inner(manifest)),
      clips_(manifest.local->optimizer.clip_norm > 0),
      merge_alpha_(static_cast<float>(manifest.local->merge_alpha)),
      agreed_(agreed),
      state_(state),
      told_(optimizer_.parameter_count()),
      kept_base_(manifest.round.delay_parameter_updates ? optimizer_.parameter_count() : 0),
      journal_(std::make_unique<StepJournal>()),
      buckets_(buckets_of(manifest)) {
  VERIFY(agreed_.size() == told_.size() && state_.size() == optimizer_.state_size());
  for (const wire::Bucket& bucket : buckets_) {
    steppers_.emplace_back(manifest.local->optimizer, manifest.local->schedule, layout_in(bucket, manifest.model));
  }
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

Status LocalSteps::step(RoundIndex round, SampleCount samples, std::span<float> gradient,
                        const std::function<void(const wire::Bucket&)>& stepped) {
  VERIFY(samples > 0 && gradient.size() == told_.size());
  const float share = 1.0F / static_cast<float>(samples);
  for (float& value : gradient) value *= share;
  const auto scale = optimizer_.gradient_scale(gradient);
  if (!scale.ok()) return scale.error().prefixed("local step of round " + std::to_string(round));
  for (const wire::Bucket& bucket : buckets_) {
    if (!take_step(round, samples, bucket, *scale, gradient.subspan(bucket.begin, bucket.count))) return dropped(round);
    if (stepped) stepped(bucket);
  }
  end_step(samples);
  return {};
}

Status LocalSteps::step_bucket(RoundIndex round, SampleCount samples, const wire::Bucket& bucket,
                               std::span<float> gradient) {
  VERIFY(samples > 0 && gradient.size() == told_.size() && !clips_);
  const std::span<float> own = gradient.subspan(bucket.begin, bucket.count);
  const float share = 1.0F / static_cast<float>(samples);
  for (float& value : own) value *= share;
  const auto scale = steppers_[bucket.number].gradient_scale(own);
  if (!scale.ok() || !take_step(round, samples, bucket, *scale, own)) return dropped(round);
  return {};
}

void LocalSteps::end_step(SampleCount samples) {
  ++taken_;
  for (SampleCount& each : samples_) each += samples;
}

void LocalSteps::drop_step() {
  std::fill(state_.begin(), state_.end(), 0.0F);
  taken_ = 0;
  begin_at(base());
}

Error LocalSteps::dropped(RoundIndex round) {
  drop_step();
  return {ErrorCode::corrupt, "local step of round " + std::to_string(round) +
                                  ": it left the finite numbers: local.schedule.learning_rate may be too high"};
}

bool LocalSteps::take_step(RoundIndex round, SampleCount samples, const wire::Bucket& bucket, float gradient_scale,
                           std::span<float> gradient) {
  journal_->clear();
  steppers_[bucket.number].step_piece(optimizer_.learning_rate(round), taken_, {gradient, gradient_scale},
                                      {state_.data() + bucket.begin, told_.size()}, *journal_);
  float wrong = 0;
  for (std::size_t number = 0; number < fragments_.size(); ++number) {
    const std::size_t begin = std::max(bucket.begin, fragments_[number].begin);
    const std::size_t end = std::min(bucket.begin + bucket.count, fragments_[number].begin + fragments_[number].count);
    if (begin < end) wrong += tell(number, begin, end, samples, gradient.subspan(begin - bucket.begin));
  }
  return std::isfinite(wrong);
}

float LocalSteps::tell(std::size_t fragment, std::size_t begin, std::size_t end, SampleCount samples,
                       std::span<float> gradient) {
  const std::span<const float> from = base();
  const auto more = static_cast<float>(samples);
  const auto all = static_cast<float>(samples_[fragment] + samples);
  float wrong = 0;  // stays 0 as long as every value is finite
  for (std::size_t i = begin; i < end; ++i) {
    float& increment = gradient[i - begin];
    increment = more * (from[i] - told_[i]) + all * (told_[i] - state_[i]);
    told_[i] = state_[i];
    wrong += increment * 0.0F;
  }
  return wrong;
}

}  // namespace starling::optim
