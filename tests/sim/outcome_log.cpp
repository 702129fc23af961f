#include "tests/sim/outcome_log.h"

#include <fmt/core.h>

#include "shared/base/log.h"

namespace starling::sim {

void log_outcome(TimePoint now, int peer, Duration took, const averaging::AveragingOutcome& outcome) {
  const double at = to_seconds(now.time_since_epoch());
  for (const averaging::LostMember& lost : outcome.lost) {
    log_debug("{:.3f} peer {} lost rank {}: {}", at, peer, lost.rank, lost.reason);
  }
  for (const averaging::SeenFault& seen : outcome.faults) {
    log_debug("{:.3f} peer {} complains about rank {}: {}", at, peer, seen.rank, wire::to_string(seen.fault));
  }
  for (const averaging::ScaledMember& scaled : outcome.scaled) {
    log_debug("{:.3f} peer {} scaled rank {} by {}", at, peer, scaled.rank, scaled.factor);
  }
  log_debug("{:.3f} peer {} averaged for {:.3f} s, verdict {}", at, peer, to_seconds(took),
            static_cast<int>(outcome.verdict));
}

}  // namespace starling::sim
