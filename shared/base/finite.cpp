#include "shared/base/finite.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace starling {
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

}  // namespace starling
