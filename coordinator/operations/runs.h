// The runs in use, and an operator's actions on them.
#pragma once

#include <string>
#include <vector>

#include "coordinator/operations/desk.h"

namespace starling::operations {

// Oldest first, without retired ones.
Result<std::vector<db::Run>> runs_in_use(const db::RunStore& store);
// The run with this id; an empty id means the only run in use.
Result<db::Run> find_run(const db::RunStore& store, const std::string& run_id);

// Error failed_precondition, with advice, for a run that is complete or retired.
Status expect_usable(const db::Run& run);

// Error failed_precondition, with advice: another run is being trained, or this one is complete or retired.
Status start_run(const Desk& desk, const db::Run& run);
Status pause_run(const Desk& desk, const db::Run& run);
// Retires a run for good: it leaves every list and no newcomer gets it. Its pages and its credit stay. Not allowed
// while it trains.
Status retire_run(const Desk& desk, const db::Run& run);

}  // namespace starling::operations
