// The loops of the codecs, for the processor at hand. Every version gives identical bits (IEEE operations, no fused
// multiply-add, rounding to nearest even), so peers with different processors agree.
#pragma once

#include <cstddef>
#include <cstdint>

namespace starling::averaging {

// Loops of a codec that consists of nothing but a run of values or of blocks.
struct PackedKernels {
  // Values that are not finite give bytes that sound() refuses.
  void (*encode)(const float* values, std::uint8_t* bytes, std::size_t size);
  // Whether an encoder writes such bytes, with no bf16 (value or scale) of greater magnitude than `bits_max`.
  bool (*sound)(const std::uint8_t* bytes, std::size_t size, std::uint16_t bits_max);
  void (*decode)(const std::uint8_t* bytes, float* out, std::size_t size);
};

// Floats and halves in byte buffers are little-endian and need no alignment. Sizes count values.
struct Kernels {
  // Largest magnitude, as the bits of a non-negative float: NaN and infinity are the largest of all.
  std::uint32_t (*largest)(const std::uint8_t* floats, std::size_t size);
  // out = floats, past the caches where the processor can do that: a round's result does not fit into them, and is not
  // read before it is whole. Returns the largest magnitude as largest() does.
  std::uint32_t (*copy)(const std::uint8_t* floats, float* out, std::size_t size);
  // sum = base + floats
  void (*add)(const std::uint8_t* floats, const float* base, float* sum, std::size_t size);
  // Sum of squares in double precision, from 16 partial sums (one for every 16th value), which are added up by halves.
  double (*square_sum)(const std::uint8_t* floats, std::size_t size);
  // Likewise of floats - center * factor.
  double (*square_distance)(const std::uint8_t* floats, const float* center, float factor, std::size_t size);
  void (*divide)(float* values, float divisor, std::size_t size);
  // Sum of products, from 32 partial sums (one for every 32nd value), which are added up by halves.
  float (*dot)(const float* a, const float* b, std::size_t size);
  // sum += values * factor
  void (*add_scaled)(const float* values, float factor, float* sum, std::size_t size);
  // halves = values * factor
  void (*to_halves)(const float* values, float factor, std::uint8_t* halves, std::size_t size);
  // out = halves * scale. Returns the largest magnitude of the halves, as the bits of a non-negative one.
  std::uint16_t (*from_halves)(const std::uint8_t* halves, float scale, float* out, std::size_t size);
  PackedKernels bf16;
  PackedKernels int8;
  PackedKernels int4;
  // The ascending indices of the `wanted` values of largest magnitude, the first of equal ones. size: at most
  // kSparseChunkFloats.
  void (*select_largest)(const float* values, std::size_t size, std::size_t wanted, std::uint16_t* chosen);
};

constexpr std::size_t kSquareSums = 16;

inline double added_by_halves(const double (&sums)[kSquareSums]) {
  double rest[kSquareSums / 2];
  for (std::size_t i = 0; i < kSquareSums / 2; ++i) rest[i] = sums[i] + sums[i + kSquareSums / 2];
  for (std::size_t half = kSquareSums / 4; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) rest[i] += rest[i + half];
  }
  return rest[0];
}

const Kernels& portable_kernels();
// With AVX2 and F16C; null where the processor does not have them.
const Kernels* avx2_kernels();
// The best of the above.
const Kernels& kernels();

}  // namespace starling::averaging
