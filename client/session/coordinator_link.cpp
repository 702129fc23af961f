#include "client/session/coordinator_link.h"

#include <algorithm>

namespace starling::session {
namespace {

constexpr int kFailuresOfAbsence = 2;  // one lost call proves nothing: it is repeated at once

}  // namespace

CoordinatorLink::CoordinatorLink(std::uint64_t seed, CoordinatorLinkOptions options) : options_(options), rng_(seed) {}

void CoordinatorLink::hurry(TimePoint now) {
  if (in_flight_) {
    hurry_ = true;
  } else if (failures_ == 0) {  // a coordinator that is away is not called more often for it
    next_call_ = std::min(next_call_, now);
  }
}

void CoordinatorLink::on_sent(TimePoint now) {
  if (silent_since_ == kNever) silent_since_ = now;
  in_flight_ = true;
  hurry_ = false;
}

void CoordinatorLink::on_reply(TimePoint now, Duration next_interval) {
  in_flight_ = false;
  failures_ = 0;
  silent_since_ = now;
  interval_ = next_interval;
  next_call_ = hurry_ ? now : now + next_interval;
  hurry_ = false;
}

void CoordinatorLink::on_failed(TimePoint now) {
  in_flight_ = false;
  hurry_ = false;
  const int doublings = std::min(failures_++, 10);
  const Duration ceiling = std::min(options_.retry_max, options_.retry_first * (1 << doublings));
  // Half fixed, half random, so that not everybody calls a returning coordinator at once.
  std::uniform_real_distribution<double> jitter(0.5, 1.0);
  next_call_ = now + from_seconds(to_seconds(ceiling) * jitter(rng_));
}

bool CoordinatorLink::away(TimePoint now) const {
  if (failures_ < kFailuresOfAbsence) return false;
  return now - silent_since_ > std::max(options_.away_floor, 3 * interval_);
}

}  // namespace starling::session
