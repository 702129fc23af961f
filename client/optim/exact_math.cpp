#include "client/optim/exact_math.h"

#include <array>
#include <cstddef>
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

double squared_norm(std::span<const float> values) {
  constexpr std::size_t kLanes = 8;  // independent sums, so that the processor need not wait for each addition
  std::array<double, kLanes> lanes{};
  std::size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double value = values[i + lane];
      lanes[lane] += value * value;
    }
  }
  for (; i < values.size(); ++i) lanes[0] += static_cast<double>(values[i]) * values[i];
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

DefaultArithmetic::DefaultArithmetic() {
  VERIFY(std::fegetenv(&saved_) == 0);
  VERIFY(std::fesetenv(FE_DFL_ENV) == 0);
}

DefaultArithmetic::~DefaultArithmetic() { std::fesetenv(&saved_); }

}  // namespace starling::optim
