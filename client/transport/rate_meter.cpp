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
  const bool rested = slot > RateMeter::kWindow;
  const bool idle = bytes == 0 || static_cast<double>(bytes) < kIdle * estimate_ * to_seconds(slot);
  if (rested || idle) {
    rest();  // and when in a long slot its bytes came, nobody knows
    noted_ = window_began_ = now;
    return;
  }
  noted_ = now;
  window_bytes_ += bytes;
  window_other_ += other_end;
  if (now - window_began_ >= kWindow && window_bytes_ >= kWindowBytes) judge(true);
}

void RateMeter::rest() {
  if (noted_ - window_began_ >= kSlot && window_bytes_ >= kWindowBytes) judge(false);
  window_bytes_ = window_other_ = 0;
  window_began_ = noted_;
}

void RateMeter::judge(bool whole) {
  const double rate = static_cast<double>(std::min(window_bytes_, window_other_)) / to_seconds(noted_ - window_began_);
  const double weight = estimate_ == 0 ? 1.0 : rate > estimate_ ? kRise : whole ? kFall : 0.0;
  estimate_ += weight * (rate - estimate_);
  window_bytes_ = window_other_ = 0;
  window_began_ = noted_;
}

}  // namespace starling::transport
