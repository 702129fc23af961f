// A seeded bijection on [0, size): shuffles an index space without holding it in memory. Four-round Feistel network
// with cycle walking (Black & Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002, section 4). For
// statistical shuffling only: it is not a cipher.
#pragma once

#include <cstdint>

namespace starling {

// SplitMix64's output function (Steele et al., OOPSLA 2014): a fast, well mixed 64-bit hash.
constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

class SeededPermutation {
 public:
  // size >= 1. Equal seeds give equal permutations on every machine.
  SeededPermutation(std::uint64_t seed, std::uint64_t size);

  // position < size; the result is < size, and different positions give different results.
  [[nodiscard]] std::uint64_t at(std::uint64_t position) const;

 private:
  [[nodiscard]] std::uint64_t encrypt(std::uint64_t value) const;

  std::uint64_t seed_;
  std::uint64_t size_;
  int half_bits_;
};

}  // namespace starling
