#include "client/trainer_link/gradient_sum.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstdint>

#include "shared/base/verify.h"

namespace starling::trainer_link {
namespace {

constexpr std::uint32_t kMagnitude = 0x7fffffff;
constexpr std::uint32_t kInfinity = 0x7f800000;  // magnitudes from here on are infinite or NaN
constexpr std::size_t kBlock = 4096;             // floats checked between two chances to stop early

// Branch-free, so that the compiler vectorises it.
bool block_is_finite(std::span<const float> values) {
  std::uint32_t bad = 0;
  for (const float value : values) bad |= (std::bit_cast<std::uint32_t>(value) & kMagnitude) >= kInfinity ? 1U : 0U;
  return bad == 0;
}

}  // namespace

bool all_finite(std::span<const float> values) {
  while (!values.empty()) {
    const auto block = values.first(std::min(kBlock, values.size()));
    if (!block_is_finite(block)) return false;
    values = values.subspan(block.size());
  }
  return true;
}

Status add_gradient(std::span<const float> gradient, std::span<float> into) {
  VERIFY(gradient.size() == into.size());
  if (!all_finite(gradient)) {
    const auto bad = std::find_if(gradient.begin(), gradient.end(), [](const float& value) {
      return !block_is_finite({&value, 1});
    });
    return Error{ErrorCode::corrupt, fmt::format("gradient value {} of {} is not a finite number",
                                                 bad - gradient.begin(), gradient.size())};
  }
  const float* from = gradient.data();
  float* to = into.data();
  const std::size_t count = into.size();
  for (std::size_t i = 0; i < count; ++i) to[i] += from[i];
  return {};
}

}  // namespace starling::trainer_link
