#include "client/transport/rate_meter.h"

#include <algorithm>
#include <utility>

namespace starling::transport {
namespace {

// The part of the way from the estimate to the window's rate that the estimate moves with every slot.
constexpr double kRise = 0.15;
constexpr double kFall = 0.001;
// The corresponding part for a window so much faster that jitter does not explain it: slower peers held the line up
// until now, and such moments are short.
constexpr double kLeap = 0.5;
constexpr double kFarFaster = 1.5;
// Received bytes wait at most this long for missing ones before them: gaps that follow one another make one slot, and
// slots have to end.
constexpr Duration kGapMost = std::chrono::seconds(2);
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
  const Duration time = now - std::exchange(noted_, now);
  if (time > kSlotMax) return rest();
  take({time, bytes, other_end});
}

void RateMeter::note_in_order(TimePoint now, std::int64_t bytes, std::int64_t packets_behind_gap) {
  const Duration time = now - std::exchange(noted_, now);
  if (time > kSlotMax) return rest();
  kept_ += {time, bytes, bytes};
  if (packets_behind_gap == 0 || kept_.time >= kGapMost) take(std::exchange(kept_, {}));
}

void RateMeter::take(Span slot) {
  if (slot.bytes <= 0 || static_cast<double>(slot.bytes) < kIdle * estimate_ * to_seconds(slot.time)) {
    pause_ += slot;
    if (pause_.time > kPause || window_.moved() < window_bytes_min_) rest();
    return;
  }
  const auto slots = std::max<std::int64_t>(1, slot.time / kSlot);
  slot += std::exchange(pause_, {});
  add(slot);
  if (window_.time < kWindow || window_.moved() < window_bytes_min_) return;
  for (std::int64_t i = 0; i < slots; ++i) judge();  // once for each slot of the usual length
}

// The window stays as short as it may be.
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
  if (kept_.time > Duration::zero()) take(std::exchange(kept_, {}));
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
