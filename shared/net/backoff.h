// Delays before retries and token buckets: plain values over time, without clocks.
#pragma once

#include <cstdint>

#include "shared/base/clock.h"

namespace starling::net {

// The most that is waited after the first failure, doubled with each further one, and the most ever. A delay is a
// random part of that.
struct BackoffOptions {
  Duration first = std::chrono::seconds(1);
  Duration longest = std::chrono::minutes(5);
};

// Exponential with full jitter: the n-th delay is uniform in (0, min(longest, first · 2^n)], so that a
// crowd that was cut off together does not come back together (Brooker, "Exponential Backoff And
// Jitter", AWS Architecture Blog, 2015). Seeded: equal seeds give equal delays.
class Backoff {
 public:
  explicit Backoff(std::uint64_t seed, BackoffOptions options = {}) : options_(options), state_(seed) {}

  // The delay before the next try, after one more failure.
  [[nodiscard]] Duration next_delay();
  // To be called after a success.
  void reset() { failures_ = 0; }
  [[nodiscard]] int failures() const { return failures_; }

 private:
  BackoffOptions options_;
  std::uint64_t state_;
  int failures_ = 0;
};

// Admits `rate` units a second on average, and at most `burst` at once. Starts full.
class TokenBucket {
 public:
  TokenBucket(double rate, double burst, TimePoint now) : rate_(rate), burst_(burst), level_(burst), updated_(now) {}

  // Takes `amount` if that much is available; else nothing. An amount above burst is never available.
  bool try_take(double amount, TimePoint now);
  // Time until `amount` is available: zero when it is now; Duration::max() when it never will be.
  [[nodiscard]] Duration wait_for(double amount, TimePoint now) const;

 private:
  [[nodiscard]] double level_at(TimePoint now) const;

  double rate_;
  double burst_;
  double level_;
  TimePoint updated_;
};

}  // namespace starling::net
