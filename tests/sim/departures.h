// A swarm whose volunteers are killed one after the other, beside what the runtime model says of it
// (shared/swarm/runtime_model.h, shared/swarm/departures.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shared/base/result.h"

namespace starling::sim {

struct DeparturesSetting {
  std::string name;
  std::string algorithm = "dedloc";
  double round_s = 5;                 // of computing
  double seconds_between_kills = 10;  // of all volunteers together
  bool without_a_word = false;        // a computer without power: its links are silent
};
std::vector<DeparturesSetting> departures_settings();

// Samples a second that count.
struct SamplesPerS {
  double simulated = 0;
  double predicted = 0;
};
struct DeparturesResult {
  SamplesPerS undisturbed;
  SamplesPerS with_kills;
};

// Six volunteers on virtual time, in a third of which nobody is killed; the mean of so many seeds.
// unsupported: run_swarm. internal: an invariant broke.
Result<DeparturesResult> compare_departures(const DeparturesSetting& setting, std::uint64_t first_seed, int seeds);

}  // namespace starling::sim
