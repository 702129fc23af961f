#include "client/training/micro_batch_size.h"

#include <algorithm>

namespace starling::training {

namespace {

constexpr int kTries = 3;          // tries of each size; the fastest counts, and the very first only warms up
constexpr double kWorthIt = 0.97;  // a smaller size must take less than this share of the larger one's time

}  // namespace

void MicroBatchSize::on_time(SampleCount samples, double seconds) {
  if (settled_ || samples < size_) return;
  const double each = seconds / static_cast<double>(samples);
  best_ = tries_ <= 1 && best_of_larger_ == 0 ? each : std::min(best_, each);
  if (tries_ == 0 && best_of_larger_ > 0) best_ = each;
  if (++tries_ < kTries) return;
  const bool faster = best_of_larger_ == 0 || best_ < kWorthIt * best_of_larger_;
  if (!faster) {
    size_ *= 2;
    settled_ = true;
  } else if (size_ % 2 != 0) {
    settled_ = true;
  } else {
    best_of_larger_ = best_;
    size_ /= 2;
    tries_ = 0;
  }
}

bool MicroBatchSize::on_out_of_memory() {
  if (size_ == 1) return false;
  size_ = (size_ + 1) / 2;
  settled_ = true;  // a size that does not fit in memory is not tried again
  return true;
}

}  // namespace starling::training
