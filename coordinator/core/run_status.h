// The facts about a run that Planner, Judge and Dispatcher all decide by. RunCoordinator owns them; the three read
// them.
#pragma once

#include <cstdint>

#include "coordinator/core/cadence.h"
#include "coordinator/core/types.h"
#include "shared/base/clock.h"
#include "shared/run/run_manifest.h"

namespace starling::core {

// Fixed for a coordinator's life. `known_hosts` outlives it.
struct RunSettings {
  const wire::RunManifest manifest;
  const std::int64_t vector_floats;  // length of the averaged vector
  const KnownHosts& known_hosts;
  const CoordinatorOptions options;
};

// The round in work, and what rounds are like. RunCoordinator alone changes it.
struct RunStatus {
  wire::RunState state = wire::RunState::created;
  RoundIndex round = 0;
  Digest canonical;  // names the state at the start of the round; zero: nobody has made it yet
  TimePoint round_began{};
  bool follows_round = false;  // the round began with the end of one, and no plan of it failed: its length tells rates
  Rhythm rhythm;
  bool recovered = false;      // the run had rounds before this coordinator started
  TimePoint started = kNever;  // first event

  // True right after a restart: members come back before anything is judged or planned.
  [[nodiscard]] bool restarted_within(Duration time, TimePoint now) const { return recovered && now < started + time; }
};

}  // namespace starling::core
