#include "coordinator/api/join_limiter.h"

#include "coordinator/gate/address.h"
#include "shared/base/permutation.h"

namespace starling::api {

JoinLimiter::JoinLimiter(std::uint64_t seed, TimePoint now, JoinLimits limits)
    : seed_(seed), buckets_(limits.addresses, net::TokenBucket(limits.per_second, limits.burst, now)) {}

Duration JoinLimiter::take(const std::string& address, TimePoint now) {
  const auto socket = gate::parse_address(address, 0);
  if (!socket.ok()) return {};  // the gate gives literals only
  const gate::Address from = gate::address_of(socket->storage);
  if (from.loopback) return {};
  std::uint64_t place = seed_;
  for (const std::uint8_t byte : from.unit) place = mix64(place ^ byte);
  const MutexLock lock(mutex_);
  net::TokenBucket& bucket = buckets_[place % buckets_.size()];
  return bucket.try_take(1, now) ? Duration{} : bucket.wait_for(1, now);
}

}  // namespace starling::api
