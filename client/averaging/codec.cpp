#include "client/averaging/codec.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "client/averaging/kernels.h"
#include "client/averaging/sparse.h"

namespace starling::averaging {
namespace {

constexpr std::size_t kScaleBytes = sizeof(float);
constexpr std::uint32_t kFiniteMax = 0x7f7fffffu;  // bits of the largest finite float
constexpr std::uint32_t kSummandMaxBits = std::bit_cast<std::uint32_t>(kSummandMax);

// The largest magnitude of a segment, rounded to a half's 11 bits, becomes 2^14 to 2^15: no half overflows, and
// subnormal halves begin 2^-28 below the largest value.
constexpr int kHalfTopExponent = 14;
constexpr std::uint16_t kTopHalfMin = (kHalfTopExponent + 15) << 10;
constexpr std::uint16_t kTopHalfMax = kTopHalfMin | 0x3ff;
constexpr int kScaleExponentMin = -126;  // the inverse of a smaller scale is not finite; halves are fine enough anyway
constexpr float kScaleMax = 0x1p111F;    // 65504 times it is still finite

struct PackedCodec {
  const PackedKernels& kernels;
  std::uint16_t finite_max;  // the greatest bf16 (scale or value) that keeps all values finite
};

constexpr std::uint16_t bf16_bits(int exponent, int mantissa = 0) {
  return static_cast<std::uint16_t>((127 + exponent) << 7 | mantissa);
}

constexpr std::uint16_t kLevelMax = bf16_bits(100);  // greatest level of sparse values

PackedCodec packed(Codec codec) {
  if (codec == Codec::int8) return {kernels().int8, bf16_bits(121, 1)};
  if (codec == Codec::int4) return {kernels().int4, bf16_bits(125, 18)};
  return {kernels().bf16, bf16_bits(127, 127)};
}

Error corrupt(std::string message) { return {ErrorCode::corrupt, "decode segment: " + std::move(message)}; }

const std::uint8_t* bytes_of(std::span<const float> values) {
  return reinterpret_cast<const std::uint8_t*>(values.data());
}

float power_of_two(int exponent) { return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23); }

// Rounding the largest magnitude first makes encoding idempotent: the decoded largest value has that exponent too.
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

// The scale before the halves; corrupt if no encoder writes it.
Result<float> checked_scale(std::span<const std::uint8_t> bytes) {
  float scale = 0;
  std::memcpy(&scale, bytes.data(), kScaleBytes);
  const auto bits = std::bit_cast<std::uint32_t>(scale);
  const bool is_power_of_two = (bits & 0x007fffffu) == 0 && bits >> 23 > 0 && bits >> 23 < 255;  // positive, normal
  if (!is_power_of_two || scale > kScaleMax) return corrupt("its scale is not one");
  return scale;
}

// Whether an encoder writes `scale` with halves of which `largest` is the largest.
Status check_halves(std::uint16_t largest, float scale) {
  if (largest > kTopHalfMax) return corrupt("a value is not finite, or does not fit its scale");
  // With a scale that is coarser than necessary, the values would not encode to these bytes again.
  if (largest < kTopHalfMin && scale > power_of_two(kScaleExponentMin)) return corrupt("its scale is too large");
  return {};
}

Status check_packed(const PackedKernels& kernels, std::span<const std::uint8_t> bytes, std::size_t floats,
                    std::uint16_t bits_max) {
  if (kernels.sound(bytes.data(), floats, bits_max)) return {};
  return corrupt("they are none that an encoder writes: not finite, too large, or a scale that does not fit");
}

Status check_sparse(std::span<const std::uint8_t> bytes, std::size_t floats) {
  if (sparse_sound(bytes, floats, kLevelMax)) return {};
  return corrupt("values are not finite or too large, or they are out of order or out of place");
}

Status check_size(Codec codec, std::size_t bytes, std::size_t floats) {
  if (bytes == encoded_bytes(codec, floats)) return {};
  return corrupt(fmt::format("{} bytes where {} {} values take {}", bytes, floats, to_string(codec),
                             encoded_bytes(codec, floats)));
}

}  // namespace

void encode(Codec codec, std::span<const float> values, std::span<std::uint8_t> out) {
  VERIFY(out.size() == encoded_bytes(codec, values.size()));
  switch (codec) {
    case Codec::fp32:
      if (!values.empty()) std::memcpy(out.data(), values.data(), out.size());
      return;
    case Codec::fp16:
      return encode_halves(values, out);
    case Codec::sparse:
      return sparse_encode(values, out);
    case Codec::bf16:
    case Codec::int8:
    case Codec::int4:
      return packed(codec).kernels.encode(values.data(), out.data(), values.size());
  }
}

Status decode(Codec codec, std::span<const std::uint8_t> bytes, std::span<float> out) {
  STARLING_TRY(check_size(codec, bytes.size(), out.size()));
  switch (codec) {
    case Codec::fp32:
      if (kernels().copy(bytes.data(), out.data(), out.size()) > kFiniteMax) return corrupt("a value is not finite");
      return {};
    case Codec::fp16: {
      STARLING_ASSIGN(const float scale, checked_scale(bytes));
      return check_halves(kernels().from_halves(bytes.data() + kScaleBytes, scale, out.data(), out.size()), scale);
    }
    case Codec::sparse:
      STARLING_TRY(check_sparse(bytes, out.size()));
      std::fill(out.begin(), out.end(), 0.0F);
      sparse_add(bytes, out);
      return {};
    case Codec::bf16:
    case Codec::int8:
    case Codec::int4:
      break;
  }
  const PackedCodec format = packed(codec);
  STARLING_TRY(check_packed(format.kernels, bytes, out.size(), format.finite_max));
  format.kernels.decode(bytes.data(), out.data(), out.size());
  return {};
}

Result<double> square_sum(Codec codec, std::span<const std::uint8_t> bytes, std::size_t floats,
                          std::span<float> values) {
  STARLING_TRY(check_size(codec, bytes.size(), floats));
  const std::uint8_t* decoded = bytes.data();
  if (codec != Codec::fp32) {
    STARLING_TRY(decode(codec, bytes, values));
    decoded = bytes_of(values);
  }
  const double sum = kernels().square_sum(decoded, floats);
  constexpr double kLargestSquare = static_cast<double>(kSummandMax) * kSummandMax;
  if (!(sum <= kLargestSquare) && kernels().largest(decoded, floats) > kSummandMaxBits) {
    return corrupt("a value is not finite, or too large to be added up");
  }
  return sum;
}

double square_sum(std::span<const float> values) { return kernels().square_sum(bytes_of(values), values.size()); }

double square_distance(std::span<const std::uint8_t> values, std::span<const float> center, float weight) {
  VERIFY(values.size() == center.size() * sizeof(float));
  return kernels().square_distance(values.data(), center.data(), weight, center.size());
}

double square_distance(std::span<const float> values, std::span<const float> center, float weight) {
  VERIFY(values.size() == center.size());
  return kernels().square_distance(bytes_of(values), center.data(), weight, center.size());
}

void add(std::span<const std::uint8_t> values, std::span<const float> base, std::span<float> sum) {
  VERIFY(values.size() == sum.size() * sizeof(float) && base.size() == sum.size());
  kernels().add(values.data(), base.data(), sum.data(), sum.size());
}

bool summable(std::span<const float> values) {
  return kernels().largest(bytes_of(values), values.size()) <= kSummandMaxBits;
}

void divide(std::span<float> values, float divisor) { kernels().divide(values.data(), divisor, values.size()); }

}  // namespace starling::averaging
