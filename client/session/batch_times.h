// How much the time that a computer takes for a sample varies from one batch to the next. Pure.
#pragma once

#include <cstdint>

#include "shared/base/ids.h"

namespace starling::session {

// Mean and variance of the last batches. Each older one counts a little less than the next; while they are fewer than
// kMemory, all count alike (T. Finch, Incremental calculation of weighted mean and variance, 2009, section 9, with
// weights of 1/n at first).
class BatchTimes {
 public:
  static constexpr int kMemory = 64;     // batches
  static constexpr int kBatchesMin = 8;  // jitter is not known before

  // seconds: above 0.
  void add(SampleCount samples, double seconds);
  // Standard deviation over mean; 0: not known yet.
  [[nodiscard]] double jitter() const;

 private:
  std::int64_t batches_ = 0;
  double mean_ = 0;  // seconds a sample
  double variance_ = 0;
};

}  // namespace starling::session
