#include "client/optim/exact_math.h"

#include <doctest/doctest.h>

#include <cfenv>
#include <cmath>
#include <initializer_list>
#include <numbers>

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
