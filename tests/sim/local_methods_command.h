// starling-sim local-steps: how much of what a large batch gains local-step methods keep that talk to each other once
// in ten or fifty steps.
#pragma once

#include <cstdint>
#include <string>

#include "shared/base/result.h"

namespace starling::sim {

struct LocalMethodsArguments {
  int meetings = 40;  // of those who meet once in 50 steps, and so for all: the number of steps
  std::uint64_t seed = 1;
  int seeds = 3;
  std::string plot_file;
};

// Prints the table. An error when the picture cannot be written, or training diverged.
Status run_local_methods(const LocalMethodsArguments& arguments);

}  // namespace starling::sim
