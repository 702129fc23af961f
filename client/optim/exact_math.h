// The few mathematical functions that a step needs, made of additions, multiplications and divisions alone. The C
// library chooses other code, with other last bits, on processors with FMA; replicas on different machines would drift
// apart.
#pragma once

#include <cfenv>
#include <cstdint>

namespace starling::optim {

// base^exponent, exponent >= 0.
double integer_power(double base, std::int64_t exponent);

// cos(pi x) for 0 <= x <= 1, error below 1e-15.
double cosine_of_half_turns(double x);

// Sets IEEE default arithmetic (round to nearest, subnormals kept) during its lifetime, whatever a library loaded into
// this process has chosen.
class DefaultArithmetic {
 public:
  DefaultArithmetic();
  ~DefaultArithmetic();
  DefaultArithmetic(const DefaultArithmetic&) = delete;
  DefaultArithmetic& operator=(const DefaultArithmetic&) = delete;

 private:
  std::fenv_t saved_{};
};

}  // namespace starling::optim
