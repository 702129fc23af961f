// A whole swarm on virtual time whose model nobody holds: volunteers call the experts that others hold, a coordinator
// deals the cells, and there are faults; all from one seed. (What a cell's holders do in its rounds: cell_rounds.h.)
#pragma once

#include <functional>

#include "shared/base/result.h"
#include "tests/sim/cell_options.h"

namespace starling::sim {

// Runs options.length with faults, then options.calm without; checks every invariant on the way, and that the swarm is
// well at the end: each cell has its holders if there is memory for them, and windows are computed. on_progress gets
// the fraction of the virtual time that is over, now and then. invalid_argument: no model has such cells.
Result<CellSwarmResult> run_cell_swarm(const CellSwarmOptions& options,
                                       const std::function<void(double)>& on_progress = {});

}  // namespace starling::sim
