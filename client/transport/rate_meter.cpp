#include "client/transport/rate_meter.h"

#include <algorithm>
#include <utility>

namespace starling::transport {
namespace {

// Of the way to what a window shows, with every slot.
constexpr double kRise = 0.15;
constexpr double kFall = 0.001;
// The same for a window so much faster that no jitter explains it: the line was held up by slower ones until now, and
// such moments are short.
constexpr double kLeap = 0.5;
constexpr double kFarFaster = 1.5;
// A slot slower than this part of the estimate is a rest, not a measurement.
constexpr double kIdle = 0.05;

}  // namespace

RateMeter::Span& RateMeter::Span::operator+=(const Span& more) {
  time += more.time;
  bytes += more.bytes;
  other_end += more.other_end;
  return *this;
}

RateMeter::Span& RateMeter::Span::operator-=(const Span& less) {
  time -= less.time;
  bytes -= less.bytes;
  other_end -= less.other_end;
  return *this;
}

void RateMeter::note(TimePoint now, std::int64_t bytes, std::int64_t other_end) {
  Span slot{now - noted_, bytes, other_end};
  noted_ = now;
  if (slot.time > kSlotMax) return rest();
  if (bytes <= 0 || static_cast<double>(bytes) < kIdle * estimate_ * to_seconds(slot.time)) {
    pause_ += slot;
    if (pause_.time > kPause || window_.moved() < window_bytes_min_) rest();
    return;
  }
  slot += std::exchange(pause_, {});
  add(slot);
  if (window_.time >= kWindow && window_.moved() >= window_bytes_min_) judge();
}

// The window is as short as it may be.
void RateMeter::add(const Span& slot) {
  slots_.push_back(slot);
  window_ += slot;
  while (window_.time - slots_.front().time >= kWindow) {
    Span shorter = window_;
    shorter -= slots_.front();
    if (shorter.moved() < window_bytes_min_) break;
    window_ = shorter;
    slots_.pop_front();
  }
}

void RateMeter::rest() {
  pause_ = {};
  const bool transfer = window_.time >= kSlot && window_.moved() >= window_bytes_min_;
  if (transfer && estimate_ == 0) judge();
  if (!transfer) forget();
}

void RateMeter::judge() {
  const double rate = static_cast<double>(window_.moved()) / to_seconds(window_.time);
  estimate_ += weight_of(rate) * (rate - estimate_);
}

double RateMeter::weight_of(double rate) const {
  if (estimate_ == 0) return 1;
  if (rate > kFarFaster * estimate_) return kLeap;
  return rate > estimate_ ? kRise : kFall;
}

void RateMeter::forget() {
  slots_.clear();
  window_ = {};
}

}  // namespace starling::transport
