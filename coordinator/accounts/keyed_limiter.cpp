#include "coordinator/accounts/keyed_limiter.h"

#include "coordinator/gate/address.h"
#include "shared/base/permutation.h"

namespace starling::accounts {

KeyedLimiter::KeyedLimiter(std::uint64_t seed, TimePoint now, const KeyedLimits& limits)
    : seed_(seed), buckets_(limits.buckets, net::TokenBucket(limits.per_second, limits.burst, now)) {}

Duration KeyedLimiter::wait(std::string_view key, TimePoint now) {
  const MutexLock lock(mutex_);
  return buckets_[place_of(key)].wait_for(1, now);
}

Duration KeyedLimiter::take(std::string_view key, TimePoint now) {
  const MutexLock lock(mutex_);
  net::TokenBucket& bucket = buckets_[place_of(key)];
  return bucket.try_take(1, now) ? Duration{} : bucket.wait_for(1, now);
}

std::size_t KeyedLimiter::place_of(std::string_view key) const {
  std::uint64_t place = seed_;
  for (const char c : key) place = mix64(place ^ static_cast<unsigned char>(c));
  return place % buckets_.size();
}

std::string limit_key(const std::string& address) {
  const auto socket = gate::parse_address(address, 0);
  if (!socket.ok()) return "";  // the gate passes only literal addresses
  const gate::Address from = gate::address_of(socket->storage);
  if (from.loopback) return "";
  return {from.unit.begin(), from.unit.end()};
}

}  // namespace starling::accounts
