// The rate at which a swarm's rounds are credited.
#pragma once

#include "coordinator/core/types.h"
#include "shared/base/clock.h"

namespace starling::sim {

// The samples that rounds are credited with, from the first of them on.
class Credited {
 public:
  void add(TimePoint now, const core::RoundDecided& round) {
    if (first_ == kNever) first_ = now;
    if (now > first_) {
      for (const core::CreditedContribution& row : round.contributions) samples_ += row.samples;
    }
    last_ = now;
  }
  [[nodiscard]] double samples_per_s() const {
    return last_ > first_ ? static_cast<double>(samples_) / to_seconds(last_ - first_) : 0;
  }

 private:
  TimePoint first_ = kNever;
  TimePoint last_{};
  SampleCount samples_ = 0;
};

}  // namespace starling::sim
