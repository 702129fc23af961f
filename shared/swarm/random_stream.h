// Random numbers that are equal on every machine and for every standard library, because plans must be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "shared/base/permutation.h"

namespace starling::swarm {

class RandomStream {
 public:
  explicit RandomStream(std::uint64_t seed) : state_(mix64(seed)) {}

  std::uint64_t next() { return mix64(state_ += 0x9e3779b97f4a7c15ULL); }
  // Returns a number below `bound`, which is at least 1. The bias of the high bits is below bound / 2^32.
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>((next() >> 32) * bound >> 32); }
  // Returns a number in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  template <typename T>
  void shuffle(std::span<T> values) {
    for (std::size_t left = values.size(); left > 1; --left) {
      std::swap(values[left - 1], values[below(static_cast<std::uint32_t>(left))]);
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace starling::swarm
