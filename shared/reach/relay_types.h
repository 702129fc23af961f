// A relay's limits, rules and statistics.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "shared/base/clock.h"
#include "shared/base/ids.h"

namespace starling::reach {

// Bounds of a relay's sockets, time and rate.
struct RelayLimits {
  std::size_t visitors_max = 512;  // connections that wait; beyond it the oldest silent one is dropped
  std::size_t posts_max = 256;     // peers that wait here for calls
  std::size_t streams_max = 512;
  // Bounds per peer, so that none fills the relay: its streams, and its calls without an answer yet.
  std::size_t streams_per_peer_max = 64;
  std::size_t calls_per_peer_max = 32;
  // Limit of a handshake and a request, and again of the wait for the other end.
  Duration patience = std::chrono::seconds(10);
  double bytes_per_s = 0;  // rate of all streams together; 0: unlimited
};

// Bytes that two peers may pass through the relay. Streams with equal accounts share it: two peers that the relay knows
// have an account of their own, and strangers share one, so that nobody uses up the bytes that others need.
struct RelayAllowance {
  std::pair<PeerId, PeerId> account;
  RoundIndex round = 0;
  std::int64_t bytes_max = 0;  // bound of this round
};

// The host's decision about who may use its relay, and for how much. It must outlive the relay.
class RelayRules {
 public:
  virtual ~RelayRules() = default;
  // Both functions are called on the relay's thread, and often: they must be quick.
  [[nodiscard]] virtual bool may_post(const PeerId& peer) const = 0;
  // Empty: these two may not meet here.
  [[nodiscard]] virtual std::optional<RelayAllowance> allowance(const PeerId& caller, const PeerId& called) const = 0;
};

// Present use, and totals since the relay was made.
struct RelayStats {
  std::size_t posts = 0;    // peers that wait here for calls
  std::size_t streams = 0;  // pairs connected now
  std::int64_t streams_total = 0;
  std::int64_t bytes_total = 0;  // passed on, in both directions
  std::int64_t refused_total = 0;
  std::int64_t cut_total = 0;  // streams that ended because their round's bytes were used up
};

}  // namespace starling::reach
