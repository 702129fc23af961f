// starling-sim decentralized: how much decentralized Adam loses against all-reduce where batches are small, and how
// much of that AccumAdamW gets back without another learning rate (Wang et al., ICLR 2025, arXiv 2410.11998, section
// 5).
#pragma once

#include <cstdint>
#include <string>

#include "tests/sim/decentralized.h"

namespace starling::sim {

struct DecentralizedArguments {
  std::size_t workers = 16;
  int batch = 2;
  int steps = 4000;
  std::int64_t window = 8;  // steps between two updates of AccumAdamW's moments
  double failure_rate = 0;
  std::uint64_t seed = 1;
  int seeds = 3;
  std::string json_file;
  std::string plot_file;
};

// Returns the exit status: 0, or 1 when a file cannot be written or training diverged.
int run_decentralized(const DecentralizedArguments& arguments);

// Returns the fraction of the gap between decentralized Adam's loss and all-reduce's that another method has closed.
double gap_closed(double all_reduce, double decentralized, double other);

}  // namespace starling::sim
