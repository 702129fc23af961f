// The common step of runs whose rounds average fragments of the vector in turn (shared/run/fragments.h).
#pragma once

#include <span>

#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/run/run_manifest.h"

namespace starling::optim {

// Steps the parameters and moments of the round's fragment in `state` (wire::state_size floats), as if they were the
// whole model; the rest stays. average: wire::fragment_floats. The optimizer must work parameter by parameter ("sgd",
// "adamw"); it clips the fragment alone and counts the fragment's own steps. Allocates memory for the fragment of the
// state. corrupt, with everything untouched, for an average that is not finite.
Status step_fragment(const wire::RunManifest& manifest, RoundIndex round, std::span<const float> average,
                     std::span<float> state);

}  // namespace starling::optim
