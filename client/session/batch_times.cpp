#include "client/session/batch_times.h"

#include <algorithm>
#include <cmath>

namespace starling::session {

void BatchTimes::add(SampleCount samples, double seconds) {
  if (samples <= 0) return;
  ++batches_;
  const double weight = 1 / static_cast<double>(std::min<std::int64_t>(batches_, kMemory));
  const double off = seconds / static_cast<double>(samples) - mean_;
  mean_ += weight * off;
  variance_ = (1 - weight) * (variance_ + weight * off * off);
}

double BatchTimes::jitter() const { return batches_ < kBatchesMin ? 0 : std::sqrt(variance_) / mean_; }

}  // namespace starling::session
