// The bytes that an hour of a run moves on a volunteer's line, for people who decide whether to take part. Pure.
#pragma once

#include "shared/run/run_manifest.h"

namespace starling::swarm {

// The speed of a run's swarm.
struct SwarmPace {
  double samples_per_s = 0;  // all members' together
  double members = 0;
};

// Bytes that a usual member sends in an hour; it receives as many.
struct HourlyTraffic {
  double rounds = 0;  // averaging: of the model, or of the trunk and the cells that a member holds
  double calls = 0;   // where the model is cut into cells: own samples' activations, and answers to others
  [[nodiscard]] double all() const { return rounds + calls; }
};

// Bytes that a volunteer sends for each of its samples where the model is cut into cells, and 0 elsewhere: forth and
// back, its values for experts, and as many answers to others.
double call_bytes_per_sample(const wire::RunManifest& manifest);

// The traffic at this pace; 0 where nobody trains. A member that trains alone averages with nobody.
HourlyTraffic hourly_traffic(const wire::RunManifest& manifest, const SwarmPace& pace);

}  // namespace starling::swarm
