#include "client/averaging/kernels.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "client/averaging/block_scale.h"
#include "shared/wire/codec.h"

namespace starling::averaging {
namespace {

// Only these functions are compiled for AVX2: the rest of the program runs on any x86-64 processor.
#define STARLING_AVX2 __attribute__((target("avx2,f16c")))

constexpr std::size_t kLanes = 8;
constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

STARLING_AVX2 __m256 load_floats(const std::uint8_t* bytes, std::size_t i) {
  return _mm256_loadu_ps(reinterpret_cast<const float*>(bytes) + i);
}

STARLING_AVX2 __m256 load_halves(const std::uint8_t* bytes, std::size_t i) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + 2 * i)));
}

STARLING_AVX2 std::uint32_t largest(const std::uint8_t* floats, std::size_t size) {
  const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
  __m256i found[4] = {};
  std::size_t i = 0;
  for (; i + 4 * kLanes <= size; i += 4 * kLanes) {
    for (std::size_t k = 0; k < 4; ++k) {
      const __m256i bits = _mm256_castps_si256(load_floats(floats, i + k * kLanes));
      found[k] = _mm256_max_epu32(found[k], _mm256_and_si256(bits, magnitude));
    }
  }
  const __m256i both = _mm256_max_epu32(_mm256_max_epu32(found[0], found[1]), _mm256_max_epu32(found[2], found[3]));
  alignas(32) std::uint32_t lanes[kLanes];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), both);
  const std::uint32_t rest = portable_kernels().largest(floats + 4 * i, size - i);
  return std::max(rest, *std::max_element(lanes, lanes + kLanes));
}

STARLING_AVX2 void add(const std::uint8_t* floats, const float* base, float* sum, std::size_t size) {
  std::size_t i = 0;
  for (; i + 2 * kLanes <= size; i += 2 * kLanes) {
    const __m256 low = _mm256_add_ps(_mm256_loadu_ps(base + i), load_floats(floats, i));
    const __m256 high = _mm256_add_ps(_mm256_loadu_ps(base + i + kLanes), load_floats(floats, i + kLanes));
    _mm256_storeu_ps(sum + i, low);
    _mm256_storeu_ps(sum + i + kLanes, high);
  }
  portable_kernels().add(floats + 4 * i, base + i, sum + i, size - i);
}

STARLING_AVX2 void divide(float* values, float divisor, std::size_t size) {
  const __m256 divisors = _mm256_set1_ps(divisor);
  std::size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    _mm256_storeu_ps(values + i, _mm256_div_ps(_mm256_loadu_ps(values + i), divisors));
  }
  portable_kernels().divide(values + i, divisor, size - i);
}

STARLING_AVX2 void to_halves(const float* values, float factor, std::uint8_t* halves, std::size_t size) {
  const __m256 factors = _mm256_set1_ps(factor);
  std::size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    const __m256 scaled = _mm256_mul_ps(_mm256_loadu_ps(values + i), factors);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(halves + 2 * i), _mm256_cvtps_ph(scaled, kNearest));
  }
  portable_kernels().to_halves(values + i, factor, halves + 2 * i, size - i);
}

STARLING_AVX2 bool halves_finite(const std::uint8_t* halves, std::size_t size) {
  const __m256i exponent = _mm256_set1_epi16(0x7c00);
  __m256i bad = _mm256_setzero_si256();
  std::size_t i = 0;
  for (; i + 2 * kLanes <= size; i += 2 * kLanes) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(halves + 2 * i));
    bad = _mm256_or_si256(bad, _mm256_cmpeq_epi16(_mm256_and_si256(bits, exponent), exponent));
  }
  return _mm256_testz_si256(bad, bad) != 0 && portable_kernels().halves_finite(halves + 2 * i, size - i);
}

STARLING_AVX2 void from_halves(const std::uint8_t* halves, float scale, float* out, std::size_t size) {
  const __m256 scales = _mm256_set1_ps(scale);
  std::size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    _mm256_storeu_ps(out + i, _mm256_mul_ps(load_halves(halves, i), scales));
  }
  portable_kernels().from_halves(halves + 2 * i, scale, out + i, size - i);
}

STARLING_AVX2 void add_halves(const std::uint8_t* halves, float scale, const float* base, float* sum,
                              std::size_t size) {
  const __m256 scales = _mm256_set1_ps(scale);
  std::size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    const __m256 values = _mm256_mul_ps(load_halves(halves, i), scales);
    _mm256_storeu_ps(sum + i, _mm256_add_ps(_mm256_loadu_ps(base + i), values));
  }
  portable_kernels().add_halves(halves + 2 * i, scale, base + i, sum + i, size - i);
}

// -- int8 blocks: whole ones here, a shorter last one by the portable kernels

constexpr std::size_t kBlock = wire::kInt8BlockFloats;
constexpr std::size_t kBlockBytes = sizeof(std::uint16_t) + kBlock;

STARLING_AVX2 std::uint32_t largest_lane(__m256i values) {
  __m128i half = _mm_max_epu32(_mm256_castsi256_si128(values), _mm256_extracti128_si256(values, 1));
  half = _mm_max_epu32(half, _mm_shuffle_epi32(half, 0x4e));
  half = _mm_max_epu32(half, _mm_shuffle_epi32(half, 0xb1));
  return static_cast<std::uint32_t>(_mm_cvtsi128_si32(half));
}

STARLING_AVX2 std::uint32_t largest_of_block(const float* values) {
  const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
  __m256i found[2] = {};
  for (std::size_t i = 0; i < kBlock; i += 2 * kLanes) {
    for (std::size_t k = 0; k < 2; ++k) {
      const __m256i bits = _mm256_castps_si256(_mm256_loadu_ps(values + i + k * kLanes));
      found[k] = _mm256_max_epu32(found[k], _mm256_and_si256(bits, magnitude));
    }
  }
  return largest_lane(_mm256_max_epu32(found[0], found[1]));
}

STARLING_AVX2 __m256i rounded(const float* values, __m256 inverse) {
  return _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(values), inverse));
}

STARLING_AVX2 void block_to_int8(const float* values, std::uint8_t* block) {
  const std::uint16_t scale = block_scale(largest_of_block(values), kInt8CodeMax);
  const float inverse = inverse_of_scale(scale);
  std::memcpy(block, &scale, sizeof scale);
  block += sizeof scale;
  if (inverse == 0) {
    std::memset(block, 0, kBlock);
    return;
  }
  const __m256 inverses = _mm256_set1_ps(inverse);
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);  // undoes what packing does to the halves
  for (std::size_t i = 0; i < kBlock; i += 4 * kLanes) {
    const __m256i low = _mm256_packs_epi32(rounded(values + i, inverses), rounded(values + i + kLanes, inverses));
    const __m256i high =
        _mm256_packs_epi32(rounded(values + i + 2 * kLanes, inverses), rounded(values + i + 3 * kLanes, inverses));
    const __m256i codes = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high), order);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(block + i), codes);
  }
}

STARLING_AVX2 void to_int8(const float* values, std::uint8_t* blocks, std::size_t size) {
  for (; size >= kBlock; size -= kBlock, values += kBlock, blocks += kBlockBytes) block_to_int8(values, blocks);
  portable_kernels().to_int8(values, blocks, size);
}

STARLING_AVX2 int largest_code(const std::uint8_t* codes) {
  __m256i found = _mm256_setzero_si256();
  for (std::size_t i = 0; i < kBlock; i += 32) {
    const __m256i read = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + i));
    found = _mm256_max_epu8(found, _mm256_abs_epi8(read));  // of -128 it is 128
  }
  __m128i half = _mm_max_epu8(_mm256_castsi256_si128(found), _mm256_extracti128_si256(found, 1));
  // The smallest of the complements, 16 bits at a time: the upper byte joins the lower first.
  half = _mm_max_epu8(half, _mm_srli_epi16(half, 8));
  half = _mm_sub_epi16(_mm_set1_epi16(255), _mm_and_si128(half, _mm_set1_epi16(255)));
  return 255 - (_mm_cvtsi128_si32(_mm_minpos_epu16(half)) & 0xffff);
}

STARLING_AVX2 bool int8_sound(const std::uint8_t* blocks, std::size_t size, std::uint16_t scale_max) {
  for (; size >= kBlock; size -= kBlock, blocks += kBlockBytes) {
    std::uint16_t scale = 0;
    std::memcpy(&scale, blocks, sizeof scale);
    if (!block_sound(scale, scale_max, largest_code(blocks + sizeof scale), kInt8CodeMax)) return false;
  }
  return portable_kernels().int8_sound(blocks, size, scale_max);
}

STARLING_AVX2 __m256 scaled_codes(const std::uint8_t* codes, __m256 scales) {
  const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(codes));
  return _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(eight)), scales);
}

STARLING_AVX2 __m256 scales_of_block(const std::uint8_t* block) {
  std::uint16_t scale = 0;
  std::memcpy(&scale, block, sizeof scale);
  return _mm256_set1_ps(float_from_bf16(scale));
}

STARLING_AVX2 void from_int8(const std::uint8_t* blocks, float* out, std::size_t size) {
  for (; size >= kBlock; size -= kBlock, blocks += kBlockBytes, out += kBlock) {
    const __m256 scales = scales_of_block(blocks);
    const std::uint8_t* codes = blocks + sizeof(std::uint16_t);
    for (std::size_t i = 0; i < kBlock; i += kLanes) _mm256_storeu_ps(out + i, scaled_codes(codes + i, scales));
  }
  portable_kernels().from_int8(blocks, out, size);
}

STARLING_AVX2 void add_int8(const std::uint8_t* blocks, const float* base, float* sum, std::size_t size) {
  for (; size >= kBlock; size -= kBlock, blocks += kBlockBytes, base += kBlock, sum += kBlock) {
    const __m256 scales = scales_of_block(blocks);
    const std::uint8_t* codes = blocks + sizeof(std::uint16_t);
    for (std::size_t i = 0; i < kBlock; i += kLanes) {
      _mm256_storeu_ps(sum + i, _mm256_add_ps(_mm256_loadu_ps(base + i), scaled_codes(codes + i, scales)));
    }
  }
  portable_kernels().add_int8(blocks, base, sum, size);
}

bool processor_has_f16c() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

}  // namespace

const Kernels* avx2_kernels() {
  static constexpr Kernels kAvx2 = {largest,    add,     divide,     to_halves, halves_finite, from_halves,
                                    add_halves, to_int8, int8_sound, from_int8, add_int8};
  static const bool usable = __builtin_cpu_supports("avx2") != 0 && processor_has_f16c();
  return usable ? &kAvx2 : nullptr;
}

}  // namespace starling::averaging

#else

namespace starling::averaging {
const Kernels* avx2_kernels() { return nullptr; }
}  // namespace starling::averaging

#endif
