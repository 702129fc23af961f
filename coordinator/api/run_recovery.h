// A run as the store has it, for the core that takes it up.
#pragma once

#include <vector>

#include "coordinator/core/types.h"
#include "db/stores/stores.h"
#include "shared/base/result.h"

namespace starling::api {

// Returns everything that a core needs to take up `run` where the store is.
Result<core::RecoveredRun> recover_run(const db::Stores& stores, const db::Run& run);

// Returns the sum of each account in the run's ledger.
Result<std::vector<core::AccountSamples>> read_credited(const db::StandingsStore& standings, const RunId& run_id);

}  // namespace starling::api
