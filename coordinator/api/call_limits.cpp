#include "coordinator/api/call_limits.h"

#include <string>

namespace starling::api {
namespace {

std::string key_of(const PeerId& peer) { return {peer.bytes.begin(), peer.bytes.end()}; }

}  // namespace

CallLimits::CallLimits(std::uint64_t seed, TimePoint now, const Limits& limits)
    : members_(seed, now, limits.member), accounts_(seed, now, limits.account), pieces_(seed, now, limits.pieces) {}

// A call that is refused for the member's sake costs its account nothing.
Duration CallLimits::take(const PeerId& peer, std::optional<AccountId> account, TimePoint now) {
  if (const Duration wait = members_.take(key_of(peer), now); wait > Duration{}) return wait;
  return account ? accounts_.take(std::to_string(*account), now) : Duration{};
}

Duration CallLimits::take_piece(const PeerId& peer, TimePoint now) { return pieces_.take(key_of(peer), now); }

}  // namespace starling::api
