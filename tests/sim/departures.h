// A swarm whose volunteers are killed one after the other, beside the runtime model's prediction for it
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
  double round_s = 5;                 // seconds of computing
  double seconds_between_kills = 10;  // for all volunteers together
  bool without_a_word = false;        // a computer without power: its links are silent
};
std::vector<DeparturesSetting> departures_settings();

// Rates of the samples that count.
struct SamplesPerS {
  double simulated = 0;
  double predicted = 0;
};
struct DeparturesResult {
  SamplesPerS undisturbed;
  SamplesPerS with_kills;
};

// Simulates six volunteers on virtual time, a third of it without kills; returns the mean of `seeds` seeds.
// unsupported: run_swarm. internal: an invariant broke.
Result<DeparturesResult> compare_departures(const DeparturesSetting& setting, std::uint64_t first_seed, int seeds);

}  // namespace starling::sim
