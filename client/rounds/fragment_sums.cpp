#include "client/rounds/fragment_sums.h"

#include <algorithm>
#include <utility>

#include "shared/base/verify.h"
#include "shared/run/fragments.h"
#include "shared/run/model_layout.h"

namespace starling::rounds {

FragmentSums::FragmentSums(const wire::RunManifest& manifest)
    : manifest_(manifest),
      sums_(wire::parameter_count(manifest.model)),
      samples_(static_cast<std::size_t>(wire::fragments(manifest))),
      cut_(wire::fragment_floats(manifest)) {}

void FragmentSums::on_batch(SampleCount samples) {
  for (SampleCount& each : samples_) each += samples;
}

std::span<const float> FragmentSums::cut(RoundIndex round, SampleCount, SampleCount weight) {
  const wire::Fragment fragment = wire::fragment_of(manifest_, round);
  cut_round_ = round;
  cut_weight_ = weight;
  cut_samples_ = std::exchange(samples_[static_cast<std::size_t>(fragment.number)], 0);
  VERIFY(cut_weight_ > 0 && cut_samples_ > 0);
  const float share = static_cast<float>(cut_weight_) / static_cast<float>(cut_samples_);
  std::fill(cut_.begin(), cut_.end(), 0.0F);
  for (std::size_t i = 0; i < fragment.count; ++i) cut_[i] = share * std::exchange(sums_[fragment.begin + i], 0.0F);
  return cut_;
}

void FragmentSums::put_back() {
  if (cut_weight_ == 0) return;
  const wire::Fragment fragment = wire::fragment_of(manifest_, cut_round_);
  const float whole = static_cast<float>(cut_samples_) / static_cast<float>(std::exchange(cut_weight_, 0));
  for (std::size_t i = 0; i < fragment.count; ++i) sums_[fragment.begin + i] += whole * cut_[i];
  samples_[static_cast<std::size_t>(fragment.number)] += cut_samples_;
}

void FragmentSums::clear() {
  std::fill(sums_.begin(), sums_.end(), 0.0F);
  std::fill(samples_.begin(), samples_.end(), 0);
  cut_weight_ = 0;
}

}  // namespace starling::rounds
