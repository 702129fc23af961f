#include "client/transport/rate_meter.h"

namespace starling::transport {
namespace {

// What a link can do shows in its fast windows; slow ones may be somebody else's fault. Rise fast, fall slowly.
constexpr double kRise = 0.5;
constexpr double kFall = 0.05;

}  // namespace

void RateMeter::add(TimePoint now, std::size_t bytes) {
  if (!busy_) return;
  window_bytes_ += static_cast<std::int64_t>(bytes);
  if (window_time_ + (now - busy_since_) < kWindow) return;
  window_time_ += now - busy_since_;
  busy_since_ = now;
  close_window();
}

void RateMeter::set_busy(TimePoint now, bool busy) {
  if (busy == busy_) return;
  busy_ = busy;
  if (busy) {
    busy_since_ = now;
    return;
  }
  window_time_ += now - busy_since_;
  if (window_time_ >= kShortestWindow) close_window();
}

void RateMeter::close_window() {
  const double rate = static_cast<double>(window_bytes_) / to_seconds(window_time_);
  const double weight = estimate_ == 0 ? 1.0 : rate > estimate_ ? kRise : kFall;
  estimate_ += weight * (rate - estimate_);
  window_time_ = {};
  window_bytes_ = 0;
}

}  // namespace starling::transport
