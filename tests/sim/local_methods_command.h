// starling-sim local-steps: how much of a large batch's gain is kept by local-step methods that communicate once in ten
// or fifty steps.
#pragma once

#include <cstdint>
#include <string>

#include "shared/base/result.h"

namespace starling::sim {

struct LocalMethodsArguments {
  int meetings = 40;  // meetings of methods with one in 50 steps; it sets the number of steps for all
  std::uint64_t seed = 1;
  int seeds = 3;
  std::string plot_file;
};

// Prints the table. An error when the picture cannot be written, or training diverged.
Status run_local_methods(const LocalMethodsArguments& arguments);

}  // namespace starling::sim
