#include "client/training/gradient_sum.h"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

using namespace starling::training;

TEST_CASE("a finite gradient is added") {
  const std::vector<float> gradient(1001, 0.25F);
  std::vector<float> sum(1001, 1.0F);
  CHECK(add_if_finite(gradient, sum));
  CHECK(sum == std::vector<float>(1001, 1.25F));
}

TEST_CASE("one bad value anywhere leaves the sum untouched") {
  using limits = std::numeric_limits<float>;
  for (const float bad : {limits::quiet_NaN(), limits::infinity(), -limits::infinity()}) {
    for (const std::size_t place : {0U, 17U, 1000U}) {
      std::vector<float> gradient(1001, limits::max());
      gradient[place] = bad;
      std::vector<float> sum(1001, 1.0F);
      CHECK(!add_if_finite(gradient, sum));
      CHECK(sum == std::vector<float>(1001, 1.0F));
    }
  }
}
