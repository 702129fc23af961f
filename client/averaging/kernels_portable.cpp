#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "client/averaging/block_scale.h"
#include "client/averaging/kernels.h"
#include "shared/wire/codec.h"

namespace starling::averaging {
namespace {

using wire::kInt8BlockFloats;

static_assert(std::endian::native == std::endian::little, "floats travel little-endian, as they lie in memory");

template <typename T>
T load(const std::uint8_t* bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes + index * sizeof value, sizeof value);
  return value;
}

// To the nearest half, ties to even; beyond 65519 infinity, NaN stays NaN.
std::uint16_t half_from_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x47800000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // 65536 and more
  if (magnitude < 0x38800000u) {  // below 2^-14: adding 0.5 lines the bits of a subnormal half up, rounded
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
  }
  const std::uint32_t odd = magnitude >> 13 & 1u;
  return static_cast<std::uint16_t>(sign | (magnitude - 0x38000000u + 0xfffu + odd) >> 13);
}

float float_from_half(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  if (magnitude >= 0x400u) return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
  const float subnormal = static_cast<float>(magnitude) * 0x1p-24F;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(subnormal));
}

std::uint32_t largest(const std::uint8_t* floats, std::size_t size) {
  std::uint32_t found = 0;
  for (std::size_t i = 0; i < size; ++i) found = std::max(found, load<std::uint32_t>(floats, i) & 0x7fffffffu);
  return found;
}

void add(const std::uint8_t* floats, const float* base, float* sum, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) sum[i] = base[i] + load<float>(floats, i);
}

void divide(float* values, float divisor, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) values[i] /= divisor;
}

void to_halves(const float* values, float factor, std::uint8_t* halves, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint16_t half = half_from_float(values[i] * factor);
    std::memcpy(halves + i * sizeof half, &half, sizeof half);
  }
}

bool halves_finite(const std::uint8_t* halves, std::size_t size) {
  bool finite = true;
  for (std::size_t i = 0; i < size; ++i) finite = finite && (load<std::uint16_t>(halves, i) & 0x7c00u) != 0x7c00u;
  return finite;
}

void from_halves(const std::uint8_t* halves, float scale, float* out, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) out[i] = float_from_half(load<std::uint16_t>(halves, i)) * scale;
}

void add_halves(const std::uint8_t* halves, float scale, const float* base, float* sum, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) sum[i] = base[i] + float_from_half(load<std::uint16_t>(halves, i)) * scale;
}

// -- int8 blocks (block_scale.h)

void to_int8(const float* values, std::uint8_t* blocks, std::size_t size) {
  for (std::size_t begin = 0; begin < size; begin += kInt8BlockFloats) {
    const std::size_t count = std::min(kInt8BlockFloats, size - begin);
    const std::uint32_t found = largest(reinterpret_cast<const std::uint8_t*>(values + begin), count);
    const std::uint16_t scale = block_scale(found, kInt8CodeMax);
    const float inverse = inverse_of_scale(scale);
    std::memcpy(blocks, &scale, sizeof scale);
    blocks += sizeof scale;
    for (std::size_t i = 0; i < count; ++i) {
      blocks[i] = static_cast<std::uint8_t>(inverse == 0 ? 0 : nearest(values[begin + i] * inverse));
    }
    blocks += count;
  }
}

bool int8_sound(const std::uint8_t* blocks, std::size_t size, std::uint16_t scale_max) {
  for (std::size_t begin = 0; begin < size; begin += kInt8BlockFloats) {
    const std::size_t count = std::min(kInt8BlockFloats, size - begin);
    const auto scale = load<std::uint16_t>(blocks, 0);
    blocks += sizeof scale;
    int found = 0;
    for (std::size_t i = 0; i < count; ++i) found = std::max(found, std::abs(static_cast<std::int8_t>(blocks[i])));
    if (!block_sound(scale, scale_max, found, kInt8CodeMax)) return false;
    blocks += count;
  }
  return true;
}

void from_int8(const std::uint8_t* blocks, float* out, std::size_t size) {
  for (std::size_t begin = 0; begin < size; begin += kInt8BlockFloats) {
    const std::size_t count = std::min(kInt8BlockFloats, size - begin);
    const float scale = float_from_bf16(load<std::uint16_t>(blocks, 0));
    blocks += sizeof(std::uint16_t);
    for (std::size_t i = 0; i < count; ++i) out[begin + i] = static_cast<std::int8_t>(blocks[i]) * scale;
    blocks += count;
  }
}

void add_int8(const std::uint8_t* blocks, const float* base, float* sum, std::size_t size) {
  for (std::size_t begin = 0; begin < size; begin += kInt8BlockFloats) {
    const std::size_t count = std::min(kInt8BlockFloats, size - begin);
    const float scale = float_from_bf16(load<std::uint16_t>(blocks, 0));
    blocks += sizeof(std::uint16_t);
    for (std::size_t i = 0; i < count; ++i) {
      sum[begin + i] = base[begin + i] + static_cast<std::int8_t>(blocks[i]) * scale;
    }
    blocks += count;
  }
}

}  // namespace

const Kernels& portable_kernels() {
  static constexpr Kernels kPortable = {largest,    add,     divide,     to_halves, halves_finite, from_halves,
                                        add_halves, to_int8, int8_sound, from_int8, add_int8};
  return kPortable;
}

const Kernels& kernels() {
  static const Kernels& best = avx2_kernels() != nullptr ? *avx2_kernels() : portable_kernels();
  return best;
}

}  // namespace starling::averaging
