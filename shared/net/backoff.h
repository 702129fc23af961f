// When to try again, and how much is allowed: plain values over time, without clocks.
#pragma once

#include <cstdint>

#include "shared/base/clock.h"

namespace starling::net {

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
  // After a success.
  void reset() { failures_ = 0; }
  [[nodiscard]] int failures() const { return failures_; }

 private:
  BackoffOptions options_;
  std::uint64_t state_;
  int failures_ = 0;
};

// `rate` units a second on average, at most `burst` at once. Starts full.
class TokenBucket {
 public:
  TokenBucket(double rate, double burst, TimePoint now) : rate_(rate), burst_(burst), level_(burst), updated_(now) {}

  // Takes `amount` when that much is there; else nothing. An amount above burst is never there.
  bool try_take(double amount, TimePoint now);
  // How long until `amount` is there: zero when it is now; Duration::max() when it never will be.
  [[nodiscard]] Duration wait_for(double amount, TimePoint now) const;

 private:
  [[nodiscard]] double level_at(TimePoint now) const;

  double rate_;
  double burst_;
  double level_;
  TimePoint updated_;
};

}  // namespace starling::net
