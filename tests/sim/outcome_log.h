// Lines of the log about an averaging that has ended, for whoever replays a seed.
#pragma once

#include "client/averaging/round_types.h"
#include "shared/base/clock.h"

namespace starling::sim {

// peer: its index.
void log_outcome(TimePoint now, int peer, Duration took, const averaging::AveragingOutcome& outcome);

}  // namespace starling::sim
