#include "shared/swarm/gradient_tracking.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "shared/base/verify.h"

namespace starling::swarm {

double gossip_momentum(double second_eigenvalue) {
  VERIFY(second_eigenvalue >= 0 && second_eigenvalue < 1);
  const double root = std::sqrt(1 - second_eigenvalue * second_eigenvalue);
  return (1 - root) / (1 + root);
}

GradientTracking::GradientTracking(std::vector<double> start, const TrackingOptions& options)
    : options_(options), parameters_(std::move(start)), gradient_(parameters_.size()), now_(2 * parameters_.size()) {
  VERIFY(options_.step > 0 && options_.gossips > 0);
}

void GradientTracking::descend(std::span<const double> gradient) {
  const std::size_t size = parameters_.size();
  VERIFY(gradient.size() == size && gossips_ == 0);
  for (std::size_t i = 0; i < size; ++i) {
    double& tracked = now_[size + i];
    tracked += gradient[i] - gradient_[i];
    gradient_[i] = gradient[i];
    now_[i] = parameters_[i] - options_.step * tracked;
  }
  before_ = now_;
}

bool GradientTracking::gossip(std::span<const double> mixed) {
  VERIFY(mixed.size() == now_.size() && before_.size() == now_.size());
  for (std::size_t i = 0; i < now_.size(); ++i) {
    const double next = (1 + options_.momentum) * mixed[i] - options_.momentum * before_[i];
    before_[i] = now_[i];
    now_[i] = next;
  }
  if (++gossips_ < options_.gossips) return false;
  gossips_ = 0;
  std::copy_n(now_.begin(), parameters_.size(), parameters_.begin());
  return true;
}

}  // namespace starling::swarm
