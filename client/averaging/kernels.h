// The loops of the codecs, for the machine at hand: every version gives the same bits (IEEE operations, no fused
// multiply-add, rounding to nearest even), so peers with different processors agree.
#pragma once

#include <cstddef>
#include <cstdint>

namespace starling::averaging {

// Floats and halves in byte buffers are little-endian and need no alignment. Sizes count values.
struct Kernels {
  // Largest magnitude, as the bits of a non-negative float: NaN and infinity are the largest of all.
  std::uint32_t (*largest)(const std::uint8_t* floats, std::size_t size);
  // sum = base + floats
  void (*add)(const std::uint8_t* floats, const float* base, float* sum, std::size_t size);
  void (*divide)(float* values, float divisor, std::size_t size);
  // halves = values * factor
  void (*to_halves)(const float* values, float factor, std::uint8_t* halves, std::size_t size);
  // Whether all halves are finite.
  bool (*halves_finite)(const std::uint8_t* halves, std::size_t size);
  // out = halves * scale
  void (*from_halves)(const std::uint8_t* halves, float scale, float* out, std::size_t size);
  // sum = base + halves * scale
  void (*add_halves)(const std::uint8_t* halves, float scale, const float* base, float* sum, std::size_t size);
  // Blocks of kInt8BlockFloats codes, each behind its bf16 scale. Values that are not finite give a scale that is none.
  void (*to_int8)(const float* values, std::uint8_t* blocks, std::size_t size);
  // Whether to_int8 may have written these blocks, with no scale above the bf16 of bits `scale_max`.
  bool (*int8_sound)(const std::uint8_t* blocks, std::size_t size, std::uint16_t scale_max);
  void (*from_int8)(const std::uint8_t* blocks, float* out, std::size_t size);
  // sum = base + blocks
  void (*add_int8)(const std::uint8_t* blocks, const float* base, float* sum, std::size_t size);
};

const Kernels& portable_kernels();
// With AVX2 and F16C; null where the processor has not got them.
const Kernels* avx2_kernels();
// The best of the above.
const Kernels& kernels();

}  // namespace starling::averaging
