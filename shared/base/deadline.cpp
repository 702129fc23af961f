#include "shared/base/deadline.h"

#include <algorithm>

namespace starling {
namespace {

constexpr double kForget = 0.99;  // factor by which the slowest rate seen decays, at each observation

}  // namespace

Duration Deadline::allowed(double work) const {
  const double expected = slowest_ > 0 ? options_.patience * slowest_ * work : work / options_.unseen_work_per_s;
  if (expected >= to_seconds(options_.longest)) return options_.longest;
  return std::max(options_.floor, from_seconds(expected));
}

void Deadline::observe(Duration took, double work) {
  slowest_ = std::max(slowest_ * kForget, to_seconds(took) / std::max(work, 1.0));
}

void Deadline::on_timeout(double work) {
  const Duration next = std::min(2 * allowed(work), options_.longest);
  slowest_ = to_seconds(next) / (options_.patience * std::max(work, 1.0));
}

}  // namespace starling
