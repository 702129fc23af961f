// Scales of blocks of small integer codes, as all kernels compute them. A scale is a bf16, so code x scale is exact in
// a float, the largest magnitude always gets the largest code, and a decoded block gives its own scale again.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace starling::averaging {

constexpr std::size_t kBlockScaleBytes = 2;
constexpr int kInt8CodeMax = 127;
constexpr int kInt4CodeMax = 7;
constexpr int kInt4Zero = 8;                                // half a byte holds code + 8
constexpr std::uint16_t kBlockScaleMin = (127 - 110) << 7;  // 2^-110: smaller blocks are zeros, no product is subnormal
constexpr std::uint16_t kNoScale = 0x7fc0;                  // scale of blocks that are not finite; never read

inline float float_from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// Rounds to nearest, ties to even. Values beyond the largest bf16 become infinity; NaN stays NaN.
inline std::uint16_t bf16_from_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16 & 0x8000u) | kNoScale);
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

// Scale from the bits of a block's largest magnitude; 0 when the block is to be zeros.
inline std::uint16_t block_scale(std::uint32_t largest_bits, int code_max) {
  if (largest_bits > 0x7f7fffffu) return kNoScale;
  const std::uint16_t scale = bf16_from_float(std::bit_cast<float>(largest_bits) / static_cast<float>(code_max));
  return scale < kBlockScaleMin ? std::uint16_t{0} : scale;
}

// The factor by which values are multiplied; 0 where all codes are 0.
inline float inverse_of_scale(std::uint16_t scale) {
  return scale == 0 || scale == kNoScale ? 0.0F : 1 / float_from_bf16(scale);
}

// Whether an encoder writes this scale with codes of which the largest magnitude is `largest_code`.
inline bool block_sound(std::uint16_t scale, std::uint16_t scale_max, int largest_code, int code_max) {
  if (scale == 0) return largest_code == 0;
  return scale >= kBlockScaleMin && scale <= scale_max && largest_code == code_max;
}

// The nearest integer, ties to even, for magnitudes below 2^22.
inline int nearest(float value) {
  constexpr float kShift = 0x1.8p23F;  // its last bit is worth one
  return static_cast<int>(std::bit_cast<std::uint32_t>(value + kShift) - std::bit_cast<std::uint32_t>(kShift));
}

}  // namespace starling::averaging
