// Runs: which are in use, and what an operator does with them.
#pragma once

#include <string>
#include <vector>

#include "coordinator/operations/desk.h"

namespace starling::operations {

// Oldest first, without those that are retired.
Result<std::vector<db::Run>> runs_in_use(const db::Stores& stores);
// By its id; empty: the only one in use.
Result<db::Run> find_run(const db::Stores& stores, const std::string& run_id);

// failed_precondition, with what to do first: another one runs, or it is complete or retired.
Status start_run(const Desk& desk, const db::Run& run);
Status pause_run(const Desk& desk, const db::Run& run);
// For good: on no list from now on, and nobody new is given it. Its pages and what was credited stay. Not while it
// trains.
Status retire_run(const Desk& desk, const db::Run& run);

}  // namespace starling::operations
