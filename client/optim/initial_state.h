// The state of round 0, equal to the bit on every machine.
#pragma once

#include <span>

#include "shared/wire/run_manifest.h"

namespace starling::optim {

// Fills [parameters | moments] (wire::state_size floats): parameters as their layout says, seeded by
// the manifest; moments zero.
void fill_initial_state(const wire::RunManifest& manifest, std::span<float> state);

}  // namespace starling::optim
