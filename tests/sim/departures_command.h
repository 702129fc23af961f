// starling-sim departures: what volunteers who come and go cost a swarm, as starling-coordinator plan says it and as
// simulated volunteers find it.
#pragma once

#include <cstdint>
#include <string>

#include "shared/base/result.h"

namespace starling::sim {

struct DeparturesArguments {
  std::uint64_t seed = 1;
  int seeds = 3;
  std::string plot_file;
};

// Prints the table. An error when an invariant broke or the picture cannot be written.
Status run_departures(const DeparturesArguments& arguments);

}  // namespace starling::sim
