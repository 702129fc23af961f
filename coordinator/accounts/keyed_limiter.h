// How much each of many may do, in fixed memory: a table of token buckets, shared by chance when there are more keys
// than buckets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/mutex.h"
#include "shared/net/backoff.h"

namespace starling::accounts {

struct KeyedLimits {
  double burst = 10;        // at once, and then …
  double per_second = 0.1;  // … as many more
  std::size_t buckets = std::size_t{1} << 14;
};

// Thread-safe.
class KeyedLimiter {
 public:
  // `seed` keeps strangers from choosing who shares a bucket with them.
  KeyedLimiter(std::uint64_t seed, TimePoint now, const KeyedLimits& limits);

  // How long until the key may again; zero: now. Takes nothing.
  Duration wait(std::string_view key, TimePoint now) EXCLUDES(mutex_);
  // Takes one, if there is one. Zero when there was, else as wait().
  Duration take(std::string_view key, TimePoint now) EXCLUDES(mutex_);

 private:
  std::size_t place_of(std::string_view key) const;

  const std::uint64_t seed_;
  Mutex mutex_;
  std::vector<net::TokenBucket> buckets_ GUARDED_BY(mutex_);
};

// What limits count an address by: one IPv4 address, or one IPv6 /64. Empty for this machine's own addresses: behind a
// proxy, everybody comes from there.
std::string limit_key(const std::string& address);

}  // namespace starling::accounts
