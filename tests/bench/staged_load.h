// A stage for load: a project with many members, some of whom train and are credited round after round, and a real
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
  double audit_rate = 0;  // wire::RoundOptions::audit_rate
};

class Stage {
 public:
  // Registers everybody, serves the project, and waits until a first round is acknowledged. `loop` outlives the stage.
  static Result<std::unique_ptr<Stage>> set(EventLoop& loop, const StageOptions& options);

  // Parts for load of the members that do not train. They hold the swarm's state and pause: their calls have the usual
  // cost, and they are in no group.
  [[nodiscard]] HeartbeatLoad::Parts callers();
  // Lets the trainers end their last round, and waits until all their work is acknowledged.
  Status settle();

  EventLoop& loop;
  std::unique_ptr<CoordinatorProcess> coordinator;
  std::unique_ptr<VirtualSwarm> swarm;

 private:
  Stage(EventLoop& events, const StageOptions& options) : loop(events), options_(options) {}

  const StageOptions options_;
  std::vector<Volunteer> everybody_;  // the trainers last
};

}  // namespace starling::bench
