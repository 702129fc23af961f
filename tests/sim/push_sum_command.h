// starling-sim push-sum: the mean over lines that carry one way only, lose messages, or take few bits.
#pragma once

#include <cstdint>
#include <string>

#include "shared/base/result.h"

namespace starling::sim {

struct PushSumArguments {
  std::size_t peers = 32;
  int bits = 3;
  int rounds = 500;
  std::uint64_t seed = 1;
  std::string plot_file;
};

// Prints the table. An error when the picture cannot be written.
Status run_push_sum(const PushSumArguments& arguments);

}  // namespace starling::sim
