// When the swarm's batch will be full: the sum of the samples that members reported, each growing at its own rate.
#pragma once

#include "shared/base/clock.h"
#include "shared/base/ids.h"

namespace starling::core {

// A member's samples at a moment, and how many a second it adds.
struct Growth {
  TimePoint at{};
  SampleCount samples = 0;
  double per_s = 0;
  bool voice = true;  // its account's
};

// A running sum: adding and removing cost the same however many members there are.
class Forecast {
 public:
  void add(const Growth& growth);
  void remove(const Growth& growth);  // exactly what was added

  [[nodiscard]] double expected(TimePoint now) const;
  [[nodiscard]] double samples_per_s() const { return per_s_; }
  [[nodiscard]] bool empty() const { return counted_ == 0; }
  // Returns a time not before `now`; kNever when the sum does not grow.
  [[nodiscard]] TimePoint reaches(SampleCount target, TimePoint now) const;

 private:
  // expected(t) = base_ + per_s_ * seconds(t). When nothing is counted the sum is set to zero exactly, without rounding
  // errors.
  double base_ = 0;
  double per_s_ = 0;
  std::int64_t counted_ = 0;
};

constexpr double kProbationShare = 0.25;  // the most of a round's weight for all members on probation

// The weight that these samples will have: members on probation bring kProbationShare of it at most, all together,
// unless nobody else computes. Samples beyond that are scaled away, and do not count.
class WeightForecast {
 public:
  void add(const Growth& growth);
  void remove(const Growth& growth);  // exactly what was added

  [[nodiscard]] double expected(TimePoint now) const;
  [[nodiscard]] double samples_per_s() const;
  // Like Forecast::reaches; but no later than all samples reach sixteen times the target, whatever they weigh: where
  // hardly anybody but newcomers computes, rounds go on all the same.
  [[nodiscard]] TimePoint reaches(SampleCount target, TimePoint now) const;
  // All samples, whatever they weigh.
  [[nodiscard]] const Forecast& samples() const { return all_; }

 private:
  Forecast all_;
  Forecast voices_;
};

}  // namespace starling::core
