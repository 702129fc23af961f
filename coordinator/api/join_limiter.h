// How many accounts strangers may make from one address, where a project is open to all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/mutex.h"
#include "shared/base/result.h"
#include "shared/net/backoff.h"

namespace starling::api {

// A class of a school may join at once; whoever makes accounts by the thousand may not.
struct JoinLimits {
  double burst = 40;                             // computers that may join at once from one address, and then …
  double per_second = 1.0 / 60;                  // … as many more
  std::size_t addresses = std::size_t{1} << 14;  // told apart; beyond that, addresses share a limit by chance
};

// Thread-safe. Memory is fixed by `limits`, whoever calls.
class JoinLimiter {
 public:
  // `seed` keeps strangers from choosing who shares a limit with them.
  JoinLimiter(std::uint64_t seed, TimePoint now, JoinLimits limits = {});

  // Takes one join from the limit of the address (an IPv4 address, or an IPv6 /64). Zero when it may go on, else how
  // long until the next may. This machine's own addresses are not limited: a proxy's callers all come from there.
  Duration take(const std::string& address, TimePoint now) EXCLUDES(mutex_);

 private:
  const std::uint64_t seed_;
  Mutex mutex_;
  std::vector<net::TokenBucket> buckets_ GUARDED_BY(mutex_);
};

}  // namespace starling::api
