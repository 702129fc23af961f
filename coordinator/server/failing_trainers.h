// Volunteers' trainers that fail: for the log, and for the operator's commands. Their reasons are a member's words, so
// they are on no public page; a small file beside the database takes them from the server to the commands.
#pragma once

#include <optional>
#include <string>

#include "coordinator/api/run_service.h"
#include "coordinator/core/failing_members.h"
#include "coordinator/core/types.h"
#include "coordinator/server/project.h"
#include "shared/base/clock.h"
#include "shared/base/log_limit.h"

namespace starling::server {

// The server's part. One thread.
class FailingTrainers {
 public:
  explicit FailingTrainers(const Project& project) : project_(project) {}
  // Looks at the run that is served. Logs, and writes down, what has changed, both now and then only.
  void look(const std::optional<api::ServedRun>& served, TimePoint now);

 private:
  const Project& project_;
  std::string told_;  // last written
  TimePoint next_write_{};
  LogLimit lines_{std::chrono::minutes(1)};
};

// A run's live figures.
struct LiveFigures {
  core::SwarmView swarm;
  core::FailingMembers failing;  // without the reason where the server runs on another machine
};
// The commands' part: asks the server; everything stays zero when none serves the run.
LiveFigures ask_server(const Project& project, const RunId& run_id);

}  // namespace starling::server
