#include "client/rounds/centered.h"

#include <algorithm>
#include <utility>

#include "shared/base/verify.h"

namespace starling::rounds {

float mean_of_momentum(const wire::OptimizerOptions& optimizer) {
  return optimizer.kind == wire::OptimizerKind::sgd ? static_cast<float>(1 - optimizer.momentum) : 1.0F;
}

Centered::Centered(std::unique_ptr<Reduction> inner, std::size_t floats, float scale)
    : inner_(std::move(inner)), center_(floats), scale_(scale) {}

Move Centered::begin(const Contribution& contribution) {
  VERIFY(contribution.state.size() >= 2 * center_.size());
  contribution_ = contribution;
  return Computation{[this, momentum = contribution.state.subspan(center_.size(), center_.size())] {
    std::transform(momentum.begin(), momentum.end(), center_.begin(), [this](float value) { return scale_ * value; });
  }};
}

Move Centered::on_computed() {
  Move move = inner_->begin(contribution_);
  auto* const leg = std::get_if<Leg>(&move);
  VERIFY(leg != nullptr);
  leg->vectors.center = center_;
  return move;
}

}  // namespace starling::rounds
