// Limits of the calls to the API by one member, and by all computers of one account together: token buckets, far above
// the rate at which an honest program ever calls. A flood is refused before its request is decoded.
#pragma once

#include <cstdint>
#include <optional>

#include "coordinator/accounts/keyed_limiter.h"
#include "shared/base/clock.h"
#include "shared/base/ids.h"

namespace starling::api {

// Thread-safe.
class CallLimits {
 public:
  struct Limits {
    // A member calls every 50 ms at most (core::HeartbeatOptions), and twice a round of its own accord.
    accounts::KeyedLimits member{2000, 200};
    accounts::KeyedLimits account{20'000, 2000};  // the hosts of a laboratory
    // Pieces of a copy of the state follow each other as fast as the member's line takes them (checkpoint.h).
    accounts::KeyedLimits pieces{20'000, 10'000};
  };
  // `seed` as for accounts::KeyedLimiter.
  CallLimits(std::uint64_t seed, TimePoint now) : CallLimits(seed, now, Limits()) {}
  CallLimits(std::uint64_t seed, TimePoint now, const Limits& limits);

  // Takes one call of the member; `account`: if it is one of the project's. Returns zero, or how long the member has to
  // wait before its next call.
  Duration take(const PeerId& peer, std::optional<AccountId> account, TimePoint now);
  // Takes the call that brings a piece of a copy of the state.
  Duration take_piece(const PeerId& peer, TimePoint now);

 private:
  accounts::KeyedLimiter members_;
  accounts::KeyedLimiter accounts_;
  accounts::KeyedLimiter pieces_;
};

}  // namespace starling::api
