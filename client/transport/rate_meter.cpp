#include "client/transport/rate_meter.h"

#include <algorithm>

namespace starling::transport {
namespace {

constexpr double kRise = 0.5;
constexpr double kFall = 0.01;
// A slot slower than this part of the estimate is a rest, not a measurement.
constexpr double kIdle = 0.05;

}  // namespace

void RateMeter::note(TimePoint now, std::int64_t bytes, std::int64_t other_end) {
  const Duration slot = now - noted_;
  noted_ = now;
  const bool rested = slot > RateMeter::kWindow;
  const bool idle = bytes == 0 || static_cast<double>(bytes) < kIdle * estimate_ * to_seconds(slot);
  if (rested || idle) {
    rest();  // and when in a long slot its bytes came, nobody knows
    return;
  }
  window_time_ += slot;
  window_bytes_ += bytes;
  window_other_ += other_end;
  if (window_time_ >= kWindow && window_bytes_ >= window_bytes_min_) judge();
}

void RateMeter::rest() {
  const bool transfer = window_time_ >= kSlot && window_bytes_ >= window_bytes_min_;
  if (transfer && estimate_ == 0) judge();
  if (!transfer) forget();
}

void RateMeter::judge() {
  const double rate = static_cast<double>(std::min(window_bytes_, window_other_)) / to_seconds(window_time_);
  const double weight = estimate_ == 0 ? 1.0 : rate > estimate_ ? kRise : kFall;
  estimate_ += weight * (rate - estimate_);
  forget();
}

void RateMeter::forget() {
  window_bytes_ = window_other_ = 0;
  window_time_ = Duration(0);
}

}  // namespace starling::transport
