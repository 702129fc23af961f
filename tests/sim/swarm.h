// A whole swarm on virtual time: peers, links, a coordinator, and faults, all from one seed.
#pragma once

#include <functional>

#include "shared/base/result.h"
#include "tests/sim/options.h"

namespace starling::sim {

// Runs options.length with faults, then options.calm without; checks every invariant on the way and that the swarm is
// well at the end: everybody at the same state, rounds going on, nothing unacknowledged for long.
// on_progress hears now and then which share of the virtual time is over.
// unsupported: manifest_of.
Result<SwarmResult> run_swarm(const SwarmOptions& options, const std::function<void(double)>& on_progress = {});

}  // namespace starling::sim
