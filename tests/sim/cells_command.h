// starling-sim cells: how much a mixture of experts whose experts belong to others loses by calls that take long and
// holders that fail, beside a dense model with gradients as old.
#pragma once

#include <cstdint>
#include <string>

#include "shared/base/result.h"

namespace starling::sim {

struct CellsArguments {
  double delay_ms = 1000;  // tests/sim/emulated_cells.h has what these are
  double failures = 0.1;
  int callers = 64;
  int updates = 16'384;
  int inputs_to_step = 16;
  int updates_to_step = 40;
  std::uint64_t seed = 1;
  int seeds = 3;
  std::string plot_file;
};

// Prints the table, and in the end whether delay and failures cost little while a dense model loses much. An error when
// they do not, Debian's dataset-fashion-mnist is missing, training diverged, or the picture cannot be written.
Status run_cells(const CellsArguments& arguments);

}  // namespace starling::sim
