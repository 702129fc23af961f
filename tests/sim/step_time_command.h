// starling-sim step-time: the effect of overlap, cheaper meetings and jitter on the time of a step (Wang et al., ICLR
// 2025, arXiv 2410.11998).
#pragma once

#include <cstdint>
#include <string>

#include "shared/base/result.h"

namespace starling::sim {

struct StepTimeArguments {
  std::uint64_t seed = 1;
  std::string plot_file;
};

// Prints the table. An error when the picture cannot be written.
Status run_step_time(const StepTimeArguments& arguments);

}  // namespace starling::sim
