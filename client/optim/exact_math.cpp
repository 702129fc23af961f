#include "client/optim/exact_math.h"

#include <numbers>

#include "shared/base/verify.h"

namespace starling::optim {

double integer_power(double base, std::int64_t exponent) {
  VERIFY(exponent >= 0);
  double result = 1;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) result *= base;
    base *= base;
  }
  return result;
}

double cosine_of_half_turns(double x) {
  VERIFY(x >= 0 && x <= 1);
  // cos(pi x) = sin(pi (1/2 - x)), whose argument is at most pi/2: twelve terms of the sine's series.
  const double angle = std::numbers::pi * (0.5 - x);
  double term = angle;
  double sum = angle;
  for (int k = 1; k < 12; ++k) {
    term *= -(angle * angle) / (2.0 * k * (2.0 * k + 1));
    sum += term;
  }
  return sum;
}

DefaultArithmetic::DefaultArithmetic() {
  VERIFY(std::fegetenv(&saved_) == 0);
  VERIFY(std::fesetenv(FE_DFL_ENV) == 0);
}

DefaultArithmetic::~DefaultArithmetic() { std::fesetenv(&saved_); }

}  // namespace starling::optim
