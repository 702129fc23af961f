// A rate limit for each of many keys in fixed memory: a table of token buckets, in which keys may share a bucket when
// there are more keys than buckets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/mutex.h"
#include "shared/net/backoff.h"

namespace starling::accounts {

// Attempts of one bucket, and the number of buckets, which fixes the table's memory.
struct KeyedLimits {
  double burst = 10;        // attempts allowed at once
  double per_second = 0.1;  // further attempts allowed per second
  std::size_t buckets = std::size_t{1} << 14;
};

// Thread-safe.
class KeyedLimiter {
 public:
  // `seed` prevents strangers from choosing the keys with which they share a bucket.
  KeyedLimiter(std::uint64_t seed, TimePoint now, const KeyedLimits& limits);

  // The time until the key's next attempt is allowed; zero: now. Takes nothing.
  Duration wait(std::string_view key, TimePoint now) EXCLUDES(mutex_);
  // Takes one attempt if the bucket has one. Zero if it had, else the time as from wait().
  Duration take(std::string_view key, TimePoint now) EXCLUDES(mutex_);

 private:
  std::size_t place_of(std::string_view key) const;

  const std::uint64_t seed_;
  Mutex mutex_;
  std::vector<net::TokenBucket> buckets_ GUARDED_BY(mutex_);
};

// The key by which limits count an address: one IPv4 address, or one IPv6 /64. Empty for this machine's own addresses:
// behind a proxy, all requests come from there.
std::string limit_key(const std::string& address);

}  // namespace starling::accounts
