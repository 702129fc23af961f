// The state of the project, for programs and for volunteers who wonder whether the fault is theirs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coordinator/operations/maintenance.h"
#include "coordinator/web/run_page.h"

namespace starling::web {

// The server's knowledge of itself.
struct ServerHealth {
  WallTime started;
  bool database_reads = true;
  bool database_writes = true;
  std::int64_t connections = 0;
  std::int64_t requests = 0;  // answered since the start
  std::int64_t database_bytes = 0;
  std::optional<std::int64_t> relay_bytes = std::nullopt;  // passed on by the operator's relay, if there is one
};

// An account that holds parts of the run's model.
struct PartsHeld {
  std::string name;
  core::CellShare share;
};

// The condition of the server and of its run at `now`. An empty value could not be read, or does not exist yet.
struct StatusData {
  std::string project;
  std::optional<ShownRun> run;
  std::optional<WallTime> last_round;  // when it was decided
  std::optional<db::RunEpochs> epochs;
  std::optional<db::Activity> activity;
  ServerHealth health;
  std::optional<operations::Maintenance> maintenance;
  std::optional<WallTime> statistics;  // when the files for statistics sites were made
  WallTime now;
  std::vector<PartsHeld> parts_held = {};  // those with most parts, where the model is cut
};

std::string render_status_page(const StatusData& data);
std::string status_json(const StatusData& data);

}  // namespace starling::web
