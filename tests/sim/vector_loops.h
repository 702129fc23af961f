// Loops of small models over rows of floats, in a fixed order, so that every machine has equal sums.
#pragma once

#include <array>
#include <cstddef>

namespace starling::sim {

// Sums with one partial sum for each of `kLanes` lanes: as many as fill the registers that the processor adds in at a
// time.
template <std::size_t kLanes = 8>
float dot(const float* a, const float* b, std::size_t size) {
  std::array<float, kLanes> sums{};
  std::size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) sums[k] += a[i + k] * b[i + k];
  }
  float sum = 0;
  for (const float part : sums) sum += part;
  for (; i < size; ++i) sum += a[i] * b[i];
  return sum;
}

inline void add_scaled(float* to, float scale, const float* from, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) to[i] += scale * from[i];
}

}  // namespace starling::sim
