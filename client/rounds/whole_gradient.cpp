#include "client/rounds/whole_gradient.h"

namespace starling::rounds {
namespace {

void scale(std::vector<float>& values, double factor) {
  for (float& value : values) value = static_cast<float>(factor * value);
}

}  // namespace

WholeGradient::WholeGradient(std::size_t parameters) {
  for (std::vector<float>& buffer : buffers_) buffer.resize(parameters);
}

std::span<const float> WholeGradient::cut(RoundIndex, SampleCount samples, SampleCount weight) {
  cut_ = present_;
  cut_share_ = static_cast<double>(weight) / static_cast<double>(samples);
  if (weight < samples) scale(buffers_[cut_], cut_share_);
  return buffers_[cut_];
}

void WholeGradient::put_back() {
  if (cut_share_ < 1) scale(buffers_[cut_], 1 / cut_share_);
  cut_share_ = 1;
}

void WholeGradient::finish_round() {
  present_ = 1 - present_;
  cut_share_ = 1;
}

}  // namespace starling::rounds
