#include "client/trainer_link/deadlines.h"

#include <algorithm>

namespace starling::trainer_link {
namespace {

constexpr double kForget = 0.99;  // of the slowest rate seen, at each observation
constexpr Duration kLongest = std::chrono::hours(6);

}  // namespace

Duration Deadlines::allowed(Command command, double work) const {
  const double slowest = slowest_[static_cast<std::size_t>(command)];
  const double expected = slowest > 0 ? options_.patience * slowest * work : work / options_.slowest_flops_per_s;
  if (expected >= to_seconds(kLongest)) return kLongest;
  return std::max(options_.floor, from_seconds(expected));
}

void Deadlines::observe(Command command, double work, Duration took) {
  double& slowest = slowest_[static_cast<std::size_t>(command)];
  slowest = std::max(slowest * kForget, to_seconds(took) / std::max(work, 1.0));
}

}  // namespace starling::trainer_link
