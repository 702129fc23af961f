// starling-sim consensus: how seldom decentralized workers can gossip, by a fixed interval and by their consensus
// distance (Kong et al., ICML 2021, arXiv 2102.04828).
#pragma once

#include <cstdint>
#include <string>

#include "shared/base/result.h"

namespace starling::sim {

struct ConsensusArguments {
  int steps = 4000;
  std::uint64_t seed = 1;
  int seeds = 3;
  std::string plot_file;
};

// Prints the table. An error when the picture cannot be written, or training diverged.
Status run_consensus(const ConsensusArguments& arguments);

}  // namespace starling::sim
