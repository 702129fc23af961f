// A whole swarm on virtual time: peers, links, a coordinator, and faults, all from one seed.
#pragma once

#include <functional>

#include "shared/base/result.h"
#include "tests/sim/options.h"

namespace starling::sim {

// Runs options.length with faults, then options.calm without; checks every invariant on the way and that the swarm is
// well at the end: everybody at one state, rounds going on, nothing unacknowledged for long. on_progress gets the
// fraction of the virtual time that is over, now and then. unsupported: manifest_of.
Result<SwarmResult> run_swarm(const SwarmOptions& options, const std::function<void(double)>& on_progress = {});

}  // namespace starling::sim
