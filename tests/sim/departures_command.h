// starling-sim departures: the cost of volunteers that come and go, predicted by starling-coordinator plan and found by
// simulated volunteers.
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
