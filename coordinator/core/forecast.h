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
};

// A running sum: adding and removing cost the same however many members there are.
class Forecast {
 public:
  void add(const Growth& growth);
  void remove(const Growth& growth);  // exactly what was added

  [[nodiscard]] double expected(TimePoint now) const;
  [[nodiscard]] double samples_per_s() const { return per_s_; }
  // Returns a time not before `now`; kNever when the sum does not grow.
  [[nodiscard]] TimePoint reaches(SampleCount target, TimePoint now) const;

 private:
  // expected(t) = base_ + per_s_ * seconds(t). When nothing is counted the sum is set to zero exactly, without rounding
  // errors.
  double base_ = 0;
  double per_s_ = 0;
  std::int64_t counted_ = 0;
};

}  // namespace starling::core
