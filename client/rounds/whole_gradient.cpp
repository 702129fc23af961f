#include "client/rounds/whole_gradient.h"

namespace starling::rounds {

WholeGradient::WholeGradient(std::size_t parameters) {
  for (std::vector<float>& buffer : buffers_) buffer.resize(parameters);
}

std::span<const float> WholeGradient::cut(RoundIndex, SampleCount) {
  cut_ = present_;
  return buffers_[cut_];
}

}  // namespace starling::rounds
