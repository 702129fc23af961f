// starling-sim tracking: the error that decentralized steps reach where everybody's data differ, and the effect of
// tracking the mean gradient (Lu and De Sa, ICML 2021, arXiv 2006.08085).
#pragma once

#include <cstdint>
#include <string>

#include "shared/base/result.h"

namespace starling::sim {

struct TrackingArguments {
  std::size_t peers = 32;
  int gossips = 4;
  int rounds = 3000;
  std::uint64_t seed = 1;
  std::string plot_file;
};

// Prints the table. An error when the picture cannot be written.
Status run_tracking(const TrackingArguments& arguments);

}  // namespace starling::sim
