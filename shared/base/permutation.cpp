#include "shared/base/permutation.h"

#include "shared/base/verify.h"

namespace starling {

SeededPermutation::SeededPermutation(std::uint64_t seed, std::uint64_t size) : seed_(seed), size_(size), half_bits_(1) {
  VERIFY(size >= 1 && size <= (std::uint64_t{1} << 62));
  while ((std::uint64_t{1} << (2 * half_bits_)) < size) ++half_bits_;
}

std::uint64_t SeededPermutation::at(std::uint64_t position) const {
  VERIFY(position < size_);
  // The network permutes [0, 4^half_bits), less than four times too large a range: walk the cycle until the value is
  // inside again.
  std::uint64_t value = encrypt(position);
  while (value >= size_) value = encrypt(value);
  return value;
}

std::uint64_t SeededPermutation::encrypt(std::uint64_t value) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = value >> half_bits_;
  std::uint64_t right = value & mask;
  for (std::uint64_t round = 0; round < 4; ++round) {
    const std::uint64_t mixed = left ^ (mix64(seed_ ^ mix64(right * 4 + round)) & mask);
    left = right;
    right = mixed;
  }
  return left << half_bits_ | right;
}

}  // namespace starling
