// Volunteers' trainers as the server sees them, for the log and for the operator's commands: what they compute on, and
// why they fail. Both are members' words, so they are on no public page; a small file beside the database takes them
// from the server to the commands.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "coordinator/api/run_service.h"
#include "coordinator/core/devices_in_use.h"
#include "coordinator/core/failing_members.h"
#include "coordinator/core/types.h"
#include "coordinator/server/project.h"
#include "shared/base/clock.h"
#include "shared/base/log_limit.h"

namespace starling::server {

// The server's part. One thread.
class TrainersSeen {
 public:
  explicit TrainersSeen(const Project& project) : project_(project) {}
  // Looks at the run that is served. Logs failures, and writes down what has changed, both now and then only. `devices`
  // is called when it is time to write.
  void look(const std::optional<api::ServedRun>& served, const std::function<core::DevicesInUse()>& devices,
            TimePoint now);

 private:
  void write(const std::string& sheet, TimePoint now);

  const Project& project_;
  std::string failure_told_;
  std::string written_;
  TimePoint next_write_{};
  LogLimit lines_{std::chrono::minutes(1)};
};

// A run's live figures.
struct LiveFigures {
  core::SwarmView swarm;
  core::FailingMembers failing;  // without the reason where the server runs on another machine
  core::DeviceSums device_sums;
  core::DevicesInUse devices;  // empty where the server runs on another machine
};
// The commands' part: asks the server; everything stays zero when none serves the run.
LiveFigures ask_server(const Project& project, const RunId& run_id);

}  // namespace starling::server
