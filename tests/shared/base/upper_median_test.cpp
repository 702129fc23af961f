#include "shared/base/upper_median.h"

#include <doctest/doctest.h>

using starling::upper_median;

TEST_CASE("of two in the middle, the larger") {
  CHECK(upper_median(std::vector{7}) == 7);
  CHECK(upper_median(std::vector{3.0, 1.0}) == 3.0);
  CHECK(upper_median(std::vector{9, 1, 5}) == 5);
  CHECK(upper_median(std::vector{4, 1, 3, 2}) == 3);
}
