// The manifest of a simulated swarm: the product's composition of an algorithm's word, for a quadratic.
#pragma once

#include "shared/base/result.h"
#include "shared/run/run_manifest.h"
#include "tests/sim/options.h"

namespace starling::sim {

// invalid_argument for an unknown algorithm, and for settings that a run manifest may not have together.
Result<wire::RunManifest> manifest_of(const SwarmOptions& options);

}  // namespace starling::sim
