// The manifest of a simulated swarm: the product's composition of an algorithm's word, for a quadratic.
#pragma once

#include "shared/base/result.h"
#include "shared/run/run_manifest.h"
#include "tests/sim/options.h"

namespace starling::sim {

// unsupported, with the reason, for an algorithm with parts that simulated volunteers do not have.
Result<wire::RunManifest> manifest_of(const SwarmOptions& options);

}  // namespace starling::sim
