// What a relay is told, and tells.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "shared/base/clock.h"
#include "shared/base/ids.h"

namespace starling::reach {

struct RelayLimits {
  std::size_t visitors_max = 512;  // connections that wait for something; beyond it the oldest silent one gives way
  std::size_t posts_max = 256;     // peers that wait here for calls
  std::size_t streams_max = 512;
  // No peer takes up the relay: of its streams, and of its calls that nobody has answered yet.
  std::size_t streams_per_peer_max = 64;
  std::size_t calls_per_peer_max = 32;
  Duration patience = std::chrono::seconds(10);  // for a handshake and a request, and then for the other end
  double bytes_per_s = 0;                        // of all streams together; 0: as much as the line takes
};

// What two peers may pass on through the relay. Streams with the same account share it; so that nobody uses up what
// others need, those of two peers that belong here have one of their own.
struct RelayAllowance {
  std::pair<PeerId, PeerId> account;
  RoundIndex round = 0;
  std::int64_t bytes_max = 0;  // in this round
};

class RelayRules {
 public:
  virtual ~RelayRules() = default;
  // Both are asked on the relay's thread, and often: they must be quick.
  [[nodiscard]] virtual bool may_post(const PeerId& peer) const = 0;
  // Nothing: these two have no business here.
  [[nodiscard]] virtual std::optional<RelayAllowance> allowance(const PeerId& caller, const PeerId& called) const = 0;
};

struct RelayStats {
  std::size_t posts = 0;    // peers that wait here for calls
  std::size_t streams = 0;  // pairs connected now
  std::int64_t streams_total = 0;
  std::int64_t bytes_total = 0;  // passed on, both ways
  std::int64_t refused_total = 0;
  std::int64_t cut_total = 0;  // streams that were ended because their round's bytes were used up
};

}  // namespace starling::reach
