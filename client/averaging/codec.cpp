#include "client/averaging/codec.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "client/averaging/kernels.h"

namespace starling::averaging {
namespace {

constexpr std::size_t kScaleBytes = sizeof(float);
constexpr std::uint32_t kFiniteMax = 0x7f7fffffu;  // bits of the largest finite float
constexpr std::uint32_t kSummandMaxBits = std::bit_cast<std::uint32_t>(kSummandMax);

// The largest magnitude of a segment, rounded to a half's 11 bits, becomes 2^14 to 2^15: no half overflows, and
// subnormal halves begin 2^-28 below the largest value.
constexpr int kHalfTopExponent = 14;
constexpr int kScaleExponentMin = -126;  // the inverse of a smaller scale is no float; halves are fine enough anyway
constexpr float kSummandScaleMax = 0x1p86F;
constexpr float kScaleMax = 0x1p111F;  // 65504 times it is still finite

// Bits of bf16 scales of blocks: the largest with which a summand is at most 2^100, or any value finite.
constexpr std::uint16_t kSummandBlockScaleMax = (127 + 93) << 7;
constexpr std::uint16_t kBlockScaleMax = (127 + 121) << 7 | 1;

Error corrupt(std::string message) { return {ErrorCode::corrupt, "decode segment: " + std::move(message)}; }

const std::uint8_t* bytes_of(std::span<const float> values) {
  return reinterpret_cast<const std::uint8_t*>(values.data());
}

float power_of_two(int exponent) { return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23); }

// Rounding the largest magnitude first makes encoding idempotent: the decoded largest has the same exponent.
int scale_exponent(std::uint32_t largest_bits) {
  const int exponent = static_cast<int>((largest_bits + 0x1000u) >> 23) - 127;
  return std::max(exponent - kHalfTopExponent, kScaleExponentMin);
}

void encode_halves(std::span<const float> values, std::span<std::uint8_t> out) {
  const Kernels& kernel = kernels();
  const std::uint32_t largest = kernel.largest(bytes_of(values), values.size());
  const int exponent = scale_exponent(std::min(largest, kFiniteMax));
  const float scale = largest > kFiniteMax ? std::bit_cast<float>(largest) : power_of_two(exponent);
  std::memcpy(out.data(), &scale, kScaleBytes);
  kernel.to_halves(values.data(), power_of_two(-exponent), out.data() + kScaleBytes, values.size());
}

// The scale, if it is one that an encoder writes and all halves are finite.
Result<float> checked_scale(std::span<const std::uint8_t> bytes, float scale_max) {
  float scale = 0;
  std::memcpy(&scale, bytes.data(), kScaleBytes);
  const auto bits = std::bit_cast<std::uint32_t>(scale);
  const bool is_power_of_two = (bits & 0x007fffffu) == 0 && bits >> 23 > 0 && bits >> 23 < 255;  // positive, normal
  if (!is_power_of_two || scale > scale_max) return corrupt("its scale is not one");
  if (!kernels().halves_finite(bytes.data() + kScaleBytes, (bytes.size() - kScaleBytes) / 2)) {
    return corrupt("a value is not finite");
  }
  return scale;
}

Status check_int8(std::span<const std::uint8_t> bytes, std::size_t floats, std::uint16_t scale_max) {
  if (kernels().int8_sound(bytes.data(), floats, scale_max)) return {};
  return corrupt("a block is none that an encoder writes: not finite, too large, or its scale does not fit");
}

Status check_size(Codec codec, std::size_t bytes, std::size_t floats) {
  if (bytes == encoded_bytes(codec, floats)) return {};
  return corrupt(fmt::format("{} bytes where {} {} values take {}", bytes, floats, to_string(codec),
                             encoded_bytes(codec, floats)));
}

}  // namespace

void encode(Codec codec, std::span<const float> values, std::span<std::uint8_t> out) {
  VERIFY(out.size() == encoded_bytes(codec, values.size()));
  if (codec == Codec::fp16) return encode_halves(values, out);
  if (codec == Codec::int8) return kernels().to_int8(values.data(), out.data(), values.size());
  if (!values.empty()) std::memcpy(out.data(), values.data(), out.size());
}

Status decode(Codec codec, std::span<const std::uint8_t> bytes, std::span<float> out) {
  STARLING_TRY(check_size(codec, bytes.size(), out.size()));
  if (codec == Codec::fp16) {
    STARLING_ASSIGN(const float scale, checked_scale(bytes, kScaleMax));
    kernels().from_halves(bytes.data() + kScaleBytes, scale, out.data(), out.size());
    return {};
  }
  if (codec == Codec::int8) {
    STARLING_TRY(check_int8(bytes, out.size(), kBlockScaleMax));
    kernels().from_int8(bytes.data(), out.data(), out.size());
    return {};
  }
  if (kernels().largest(bytes.data(), out.size()) > kFiniteMax) return corrupt("a value is not finite");
  if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  return {};
}

Status decode_add(Codec codec, std::span<const std::uint8_t> bytes, std::span<const float> base, std::span<float> sum) {
  VERIFY(base.size() == sum.size());
  STARLING_TRY(check_size(codec, bytes.size(), sum.size()));
  if (codec == Codec::fp16) {
    STARLING_ASSIGN(const float scale, checked_scale(bytes, kSummandScaleMax));
    kernels().add_halves(bytes.data() + kScaleBytes, scale, base.data(), sum.data(), sum.size());
    return {};
  }
  if (codec == Codec::int8) {
    STARLING_TRY(check_int8(bytes, sum.size(), kSummandBlockScaleMax));
    kernels().add_int8(bytes.data(), base.data(), sum.data(), sum.size());
    return {};
  }
  if (kernels().largest(bytes.data(), sum.size()) > kSummandMaxBits) {
    return corrupt("a value is not finite, or too large to be added up");
  }
  kernels().add(bytes.data(), base.data(), sum.data(), sum.size());
  return {};
}

bool summable(std::span<const float> values) {
  return kernels().largest(bytes_of(values), values.size()) <= kSummandMaxBits;
}

void divide(std::span<float> values, float divisor) { kernels().divide(values.data(), divisor, values.size()); }

}  // namespace starling::averaging
