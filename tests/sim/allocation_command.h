// starling-sim allocation: how much faster averaging is if parts follow the lines (DeDLOC, Diskin et al., NeurIPS 2021,
// arXiv 2106.10207, section 3.2).
#pragma once

#include <string>

#include "shared/base/result.h"

namespace starling::sim {

struct AllocationArguments {
  std::string plot_file;
};

// Prints the table. An error when the picture cannot be written.
Status run_allocation(const AllocationArguments& arguments);

}  // namespace starling::sim
