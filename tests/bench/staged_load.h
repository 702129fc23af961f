// What load is put on: a project with many members, of whom some train and are credited round after round, and a real
// coordinator that serves it.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/bench/coordinator_process.h"
#include "tests/bench/event_loop.h"
#include "tests/bench/heartbeat_load.h"
#include "tests/bench/virtual_swarm.h"
#include "tests/bench/volunteers.h"

namespace starling::bench {

struct StageOptions {
  int volunteers = 1000;  // members that call and do not train
  int trainers = 16;      // members that train, average and report, at their own pace
};

class Stage {
 public:
  // Everybody is registered, the coordinator serves, and a first round is acknowledged.
  static Result<std::unique_ptr<Stage>> set(const StageOptions& options);

  // For load of those that do not train. They hold the swarm's state and pause: their calls cost what calls cost, and
  // they are in no group.
  [[nodiscard]] HeartbeatLoad::Parts callers();
  // The trainers end their last round, and all that they did is acknowledged.
  Status settle();

  EventLoop loop;
  std::unique_ptr<CoordinatorProcess> coordinator;
  std::unique_ptr<VirtualSwarm> swarm;

 private:
  explicit Stage(const StageOptions& options) : options_(options) {}

  const StageOptions options_;
  std::vector<Volunteer> everybody_;  // the trainers last
};

}  // namespace starling::bench
