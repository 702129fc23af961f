#include "client/optim/exact_math.h"

#include <doctest/doctest.h>

#include <cfenv>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

using namespace starling::optim;

TEST_CASE("the cosine agrees with the C library's") {
  for (int i = 0; i <= 1000; ++i) {
    const double x = i / 1000.0;
    CHECK(std::abs(cosine_of_half_turns(x) - std::cos(std::numbers::pi * x)) < 1e-15);
  }
}

TEST_CASE("integer powers agree with the C library's") {
  for (const double base : {0.9, 0.95, 0.999}) {
    for (const std::int64_t exponent : {0, 1, 2, 7, 100, 12345}) {
      CHECK(integer_power(base, exponent) ==
            doctest::Approx(std::pow(base, static_cast<double>(exponent))).epsilon(1e-12));
    }
  }
}

TEST_CASE("the squared norm is finite exactly when every value is") {
  std::vector<float> values(1003, std::numeric_limits<float>::max());
  CHECK(std::isfinite(squared_norm(values)));
  for (const float bad : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN()}) {
    for (const std::size_t place : {std::size_t{0}, std::size_t{500}, values.size() - 1}) {
      std::vector<float> spoiled = values;
      spoiled[place] = bad;
      CHECK(!std::isfinite(squared_norm(spoiled)));
    }
  }
}

TEST_CASE("a step's arithmetic does not depend on the rounding mode that a library left behind") {
  volatile double one = 1;
  volatile double three = 3;
  const double nearest = one / three;
  REQUIRE(std::fesetround(FE_UPWARD) == 0);
  {
    const DefaultArithmetic arithmetic;
    CHECK(one / three == nearest);
  }
  CHECK(one / three > nearest);
  std::fesetround(FE_TONEAREST);
}
