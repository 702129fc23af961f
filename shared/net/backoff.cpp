#include "shared/net/backoff.h"

#include <algorithm>
#include <cmath>

#include "shared/base/permutation.h"

namespace starling::net {

Duration Backoff::next_delay() {
  constexpr int kDoublingsMax = 40;  // enough for any pair of options; keeps the shift defined
  const int doublings = std::min(failures_, kDoublingsMax);
  ++failures_;
  Duration ceiling = options_.longest;
  if (options_.first.count() <= options_.longest.count() >> doublings) ceiling = options_.first * (1LL << doublings);
  state_ = mix64(state_);
  const double fraction = static_cast<double>((state_ >> 11) + 1) * 0x1p-53;  // in (0, 1]
  const auto delay = static_cast<Duration::rep>(std::ceil(static_cast<double>(ceiling.count()) * fraction));
  return std::clamp(Duration(delay), Duration(1), options_.longest);
}

double TokenBucket::level_at(TimePoint now) const {
  if (now <= updated_) return level_;
  return std::min(burst_, level_ + rate_ * to_seconds(now - updated_));
}

bool TokenBucket::try_take(double amount, TimePoint now) {
  level_ = level_at(now);
  updated_ = std::max(updated_, now);
  if (amount > level_) return false;
  level_ -= amount;
  return true;
}

Duration TokenBucket::wait_for(double amount, TimePoint now) const {
  const double missing = amount - level_at(now);
  if (missing <= 0) return Duration::zero();
  if (amount > burst_ || rate_ <= 0) return Duration::max();
  const double seconds = missing / rate_;
  constexpr double kSecondsMax = 1e9;  // longer than any wait, and still within a Duration
  return seconds > kSecondsMax ? Duration::max() : from_seconds(seconds) + Duration(1);
}

}  // namespace starling::net
