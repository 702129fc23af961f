#include "coordinator/operations/runs.h"

#include <fmt/core.h>

namespace starling::operations {
namespace {

bool is_retired(const db::Run& run) { return run.retired.unix_ms != 0; }

}  // namespace

Status expect_usable(const db::Run& run) {
  if (is_retired(run)) {
    return Error{ErrorCode::failed_precondition,
                 fmt::format("run '{0}' is retired, for good; make a new one from it: run clone DIR {0}", run.run_id)};
  }
  if (run.state != db::RunState::complete) return {};
  return Error{ErrorCode::failed_precondition,
               fmt::format("run '{}' is complete: it has taken all of its rounds", run.run_id)};
}

Result<std::vector<db::Run>> runs_in_use(const db::RunStore& store) {
  STARLING_ASSIGN(std::vector<db::Run> runs, store.list());
  std::erase_if(runs, is_retired);
  return runs;
}

Result<db::Run> find_run(const db::RunStore& store, const std::string& run_id) {
  if (!run_id.empty()) return store.find(run_id);
  STARLING_ASSIGN(const auto runs, runs_in_use(store));
  if (runs.empty()) {
    return Error{ErrorCode::not_found, "the project has no run yet; make one with 'starling-coordinator run create'"};
  }
  if (runs.size() == 1) return runs.front();
  std::string names;
  for (const db::Run& run : runs) names += (names.empty() ? "" : ", ") + run.run_id;
  return Error{ErrorCode::invalid_argument, fmt::format("the project has several runs, say which: {}", names)};
}

Status start_run(const Desk& desk, const db::Run& run) {
  STARLING_TRY(expect_usable(run));
  STARLING_ASSIGN(const auto runs, runs_in_use(desk.stores.training.runs));
  for (const db::Run& other : runs) {
    if (other.state != db::RunState::running || other.run_id == run.run_id) continue;
    return Error{ErrorCode::failed_precondition,
                 fmt::format("run '{}' is running, and a project runs one at a time; pause it first", other.run_id)};
  }
  STARLING_TRY(desk.stores.training.runs.set_state(run.run_id, db::RunState::running));
  return note(desk, "run start", run.run_id);
}

Status pause_run(const Desk& desk, const db::Run& run) {
  STARLING_TRY(expect_usable(run));
  STARLING_TRY(desk.stores.training.runs.set_state(run.run_id, db::RunState::paused));
  return note(desk, "run pause", run.run_id);
}

Status retire_run(const Desk& desk, const db::Run& run) {
  if (is_retired(run)) {
    return Error{ErrorCode::failed_precondition, fmt::format("run '{}' is retired already", run.run_id)};
  }
  if (run.state == db::RunState::running) {
    return Error{ErrorCode::failed_precondition,
                 fmt::format("run '{}' is running; pause it first, so that its last round can end", run.run_id)};
  }
  STARLING_TRY(desk.stores.training.runs.retire(run.run_id, desk.clock.wall_now()));
  return note(desk, "run retire", run.run_id);
}

}  // namespace starling::operations
