// What a simulated swarm trains, and how: the product's composition of an algorithm's word, for a quadratic.
#pragma once

#include "shared/base/result.h"
#include "shared/wire/run_manifest.h"
#include "tests/sim/options.h"

namespace starling::sim {

// unsupported, with the reason, for an algorithm that is made of parts which simulated volunteers have not.
Result<wire::RunManifest> manifest_of(const SwarmOptions& options);

}  // namespace starling::sim
