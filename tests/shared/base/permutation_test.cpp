#include "shared/base/permutation.h"

#include <doctest/doctest.h>

#include <vector>

using namespace starling;

TEST_CASE("every position maps to a different index below the size") {
  for (const std::uint64_t size : {1ULL, 2ULL, 3ULL, 17ULL, 1000ULL, 65537ULL}) {
    const SeededPermutation permutation(42, size);
    std::vector<bool> seen(size, false);
    for (std::uint64_t i = 0; i < size; ++i) {
      const std::uint64_t index = permutation.at(i);
      REQUIRE(index < size);
      REQUIRE(!seen[index]);
      seen[index] = true;
    }
  }
}

TEST_CASE("different seeds shuffle differently") {
  const SeededPermutation a(1, 1000000);
  const SeededPermutation b(2, 1000000);
  int equal = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) equal += a.at(i) == b.at(i) ? 1 : 0;
  CHECK(equal < 10);
}
