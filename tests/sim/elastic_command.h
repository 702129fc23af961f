// starling-sim elastic: how far a swarm whose members come, go and die ends from one process that takes its samples.
#pragma once

#include <cstdint>
#include <string>

#include "shared/base/result.h"

namespace starling::sim {

struct ElasticArguments {
  int rounds = 50;
  std::uint64_t seed = 1;
  std::string plot_file;
};

// Prints the table. An error when the picture cannot be written.
Status run_elastic(const ElasticArguments& arguments);

}  // namespace starling::sim
