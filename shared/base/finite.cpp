#include "shared/base/finite.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

namespace starling {
namespace {

constexpr std::uint32_t kMagnitude = 0x7fffffff;
constexpr std::size_t kBlock = 4096;  // floats checked between two chances to stop early

// Branch-free, so that the compiler vectorises it.
bool block_is_within(std::span<const float> values, std::uint32_t most) {
  std::uint32_t bad = 0;
  for (const float value : values) bad |= (std::bit_cast<std::uint32_t>(value) & kMagnitude) > most ? 1U : 0U;
  return bad == 0;
}

}  // namespace

bool all_finite(std::span<const float> values) { return all_within(values, std::numeric_limits<float>::max()); }

// Magnitudes of floats are in the order of their bits; those of infinity and NaN come last.
bool all_within(std::span<const float> values, float most) {
  const auto bits = std::bit_cast<std::uint32_t>(most);
  while (!values.empty()) {
    const auto block = values.first(std::min(kBlock, values.size()));
    if (!block_is_within(block, bits)) return false;
    values = values.subspan(block.size());
  }
  return true;
}

}  // namespace starling
