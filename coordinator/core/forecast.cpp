#include "coordinator/core/forecast.h"

#include <algorithm>

namespace starling::core {
namespace {

// Further away than any round lasts; keeps time arithmetic in range.
constexpr double kHorizonSeconds = 30.0 * 24 * 3600;

double seconds(TimePoint t) { return to_seconds(t.time_since_epoch()); }

}  // namespace

void Forecast::add(const Growth& growth) {
  ++counted_;
  base_ += static_cast<double>(growth.samples) - growth.per_s * seconds(growth.at);
  per_s_ += growth.per_s;
}

void Forecast::remove(const Growth& growth) {
  --counted_;
  base_ -= static_cast<double>(growth.samples) - growth.per_s * seconds(growth.at);
  per_s_ -= growth.per_s;
  if (counted_ == 0) base_ = per_s_ = 0;
}

double Forecast::expected(TimePoint now) const { return std::max(0.0, base_ + per_s_ * seconds(now)); }

TimePoint Forecast::reaches(SampleCount target, TimePoint now) const {
  const double missing = static_cast<double>(target) - expected(now);
  if (missing <= 1e-6) return now;
  if (per_s_ <= 1e-9 || missing > per_s_ * kHorizonSeconds) return kNever;
  return now + from_seconds(missing / per_s_);
}

}  // namespace starling::core
