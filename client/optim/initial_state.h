// The state of round 0, equal to the bit on every machine.
#pragma once

#include <cstdint>
#include <span>

#include "shared/base/result.h"
#include "shared/wire/run_manifest.h"

namespace starling::optim {

// Fills [parameters | moments] (wire::state_size floats): parameters as their layout says, seeded by
// the manifest; moments zero.
void fill_initial_state(const wire::RunManifest& manifest, std::span<float> state);

// The same for a script, with parameters from the bytes of the file that its manifest names. corrupt when that file
// holds other tensors, or a value that is not finite.
Status load_initial_state(const wire::RunManifest& manifest, std::span<const std::uint8_t> file,
                          std::span<float> state);

}  // namespace starling::optim
