#include <algorithm>
#include <bit>
#include <cstring>

#include "client/averaging/kernels.h"
#include "client/averaging/packed_kernels.h"
#include "client/averaging/sparse_kernels.h"

namespace starling::averaging {
namespace {

static_assert(std::endian::native == std::endian::little, "floats travel little-endian, as they lie in memory");

template <typename T>
T load(const std::uint8_t* bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes + index * sizeof value, sizeof value);
  return value;
}

// The nearest half, ties to even. Values beyond 65519 become infinity; NaN stays NaN.
std::uint16_t half_from_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x47800000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // 65536 and more
  if (magnitude < 0x38800000u) {  // below 2^-14: adding 0.5 aligns the bits of a subnormal half and rounds them
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

std::uint32_t copy(const std::uint8_t* floats, float* out, std::size_t size) {
  if (size > 0) std::memcpy(out, floats, size * sizeof(float));
  return largest(floats, size);
}

void add(const std::uint8_t* floats, const float* base, float* sum, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) sum[i] = base[i] + load<float>(floats, i);
}

double square_sum(const std::uint8_t* floats, std::size_t size) {
  double sums[kSquareSums] = {};
  for (std::size_t i = 0; i < size; ++i) {
    const double value = load<float>(floats, i);
    sums[i % kSquareSums] += value * value;
  }
  return added_by_halves(sums);
}

double square_distance(const std::uint8_t* floats, const float* center, float factor, std::size_t size) {
  double sums[kSquareSums] = {};
  for (std::size_t i = 0; i < size; ++i) {
    const double apart = load<float>(floats, i) - center[i] * factor;
    sums[i % kSquareSums] += apart * apart;
  }
  return added_by_halves(sums);
}

void divide(float* values, float divisor, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) values[i] /= divisor;
}

float dot(const float* a, const float* b, std::size_t size) {
  float sums[32] = {};
  for (std::size_t i = 0; i < size; ++i) sums[i % 32] += a[i] * b[i];
  for (std::size_t half = 16; half > 0; half /= 2) {
    for (std::size_t k = 0; k < half; ++k) sums[k] += sums[k + half];
  }
  return sums[0];
}

void add_scaled(const float* values, float factor, float* sum, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) sum[i] += values[i] * factor;
}

void to_halves(const float* values, float factor, std::uint8_t* halves, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint16_t half = half_from_float(values[i] * factor);
    std::memcpy(halves + i * sizeof half, &half, sizeof half);
  }
}

std::uint16_t from_halves(const std::uint8_t* halves, float scale, float* out, std::size_t size) {
  int found = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const auto half = load<std::uint16_t>(halves, i);
    out[i] = float_from_half(half) * scale;
    found = std::max(found, half & 0x7fff);
  }
  return static_cast<std::uint16_t>(found);
}

}  // namespace

const Kernels& portable_kernels() {
  static const PackedSet packed = portable_packed();
  static const Kernels kPortable = {largest,     copy,        add,         square_sum,     square_distance,
                                    divide,      dot,         add_scaled,  to_halves,      from_halves,
                                    packed.bf16, packed.int8, packed.int4, portable_select};
  return kPortable;
}

const Kernels& kernels() {
  static const Kernels& best = avx2_kernels() != nullptr ? *avx2_kernels() : portable_kernels();
  return best;
}

}  // namespace starling::averaging
