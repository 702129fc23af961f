#include "shared/base/finite.h"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

using namespace starling;

TEST_CASE("one value that is not finite is found wherever it stands") {
  using Limits = std::numeric_limits<float>;
  for (const float bad : {Limits::quiet_NaN(), -Limits::signaling_NaN(), Limits::infinity(), -Limits::infinity()}) {
    for (const std::size_t place : {std::size_t{0}, std::size_t{4095}, std::size_t{4096}, std::size_t{9'999}}) {
      std::vector<float> values(10'000, 3.0F);
      CHECK(all_finite(values));
      values[place] = bad;
      CHECK_FALSE(all_finite(values));
    }
  }
}

TEST_CASE("the largest finite values are finite") {
  CHECK(all_finite(std::vector<float>{std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest(), -0.0F}));
  CHECK(all_finite({}));
  CHECK(all_within(std::vector<float>{2, -2, 0, -0.0F}, 2));
  CHECK_FALSE(all_within(std::vector<float>{1, -2.0001F}, 2));
  CHECK_FALSE(all_within(std::vector<float>{std::numeric_limits<float>::quiet_NaN()}, 2));
  CHECK_FALSE(all_within(std::vector<float>{-std::numeric_limits<float>::infinity()}, 2));
}
