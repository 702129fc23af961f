// The groups that may decide a round, between the store's rows and the coordinator's decisions.
#pragma once

#include "coordinator/core/types.h"
#include "db/stores/training_stores.h"

namespace starling::api {

db::SeatedGroup row_of(const core::SeatedGroup& group);
// Fills in the groups that may decide the current round, and the states that were the swarm's. corrupt for rows out of
// range.
Status recover_electorate(const db::TrainingStores& stores, const RunId& run_id, core::RecoveredRun& recovered);

}  // namespace starling::api
