#include "coordinator/core/forecast.h"

#include <algorithm>
#include <cmath>

namespace starling::core {
namespace {

// Further away than any round lasts; keeps time arithmetic in range.
constexpr double kHorizonSeconds = 30.0 * 24 * 3600;
constexpr SampleCount kBatchesInVain = 16;

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

void WeightForecast::add(const Growth& growth) {
  all_.add(growth);
  if (growth.voice && growth.per_s > 0) voices_.add(growth);
}

void WeightForecast::remove(const Growth& growth) {
  all_.remove(growth);
  if (growth.voice && growth.per_s > 0) voices_.remove(growth);
}

double WeightForecast::expected(TimePoint now) const {
  const double all = all_.expected(now);
  return voices_.empty() ? all : std::min(all, voices_.expected(now) / (1 - kProbationShare));
}

double WeightForecast::samples_per_s() const {
  const double all = all_.samples_per_s();
  return voices_.empty() ? all : std::min(all, voices_.samples_per_s() / (1 - kProbationShare));
}

// The lesser of two sums is there when both are.
TimePoint WeightForecast::reaches(SampleCount target, TimePoint now) const {
  const TimePoint all = all_.reaches(target, now);
  if (voices_.empty()) return all;
  const auto of_voices = static_cast<SampleCount>(std::ceil((1 - kProbationShare) * static_cast<double>(target)));
  return std::max(all, std::min(voices_.reaches(of_voices, now), all_.reaches(kBatchesInVain * target, now)));
}

}  // namespace starling::core
