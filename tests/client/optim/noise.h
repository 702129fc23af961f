// Numbers that look random, equal in every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "shared/base/permutation.h"

namespace starling::optim::testing {

// Between -1 and 1; each seed has others.
inline std::vector<float> noise(std::size_t size, std::uint64_t seed) {
  std::vector<float> values(size);
  for (std::size_t i = 0; i < size; ++i)
    values[i] = static_cast<float>(mix64(seed << 32 ^ i) % 20001) / 10000.0F - 1.0F;
  return values;
}

}  // namespace starling::optim::testing
