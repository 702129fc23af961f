#include "client/training/gradient_sum.h"

#include <bit>
#include <cstddef>
#include <cstdint>

#include "shared/base/verify.h"

namespace starling::training {

bool add_if_finite(std::span<const float> gradient, std::span<float> into) {
  VERIFY(gradient.size() == into.size());
  // The exponent bits of NaN and infinity are all ones; integer arithmetic, so that the loop vectorises.
  constexpr std::uint32_t kExponent = 0x7f800000;
  std::uint32_t bad = 0;
  for (const float value : gradient) bad |= (std::bit_cast<std::uint32_t>(value) & kExponent) == kExponent ? 1U : 0U;
  if (bad != 0) return false;
  const float* __restrict from = gradient.data();
  float* __restrict to = into.data();
  for (std::size_t i = 0; i < gradient.size(); ++i) to[i] += from[i];
  return true;
}

}  // namespace starling::training
