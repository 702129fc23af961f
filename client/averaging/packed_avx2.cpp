#include "client/averaging/packed_kernels.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <cstring>

#include "client/averaging/block_scale.h"
#include "shared/wire/codec.h"

namespace starling::averaging {
namespace {

#define STARLING_AVX2 __attribute__((target("avx2")))

constexpr std::size_t kLanes = 8;

const PackedSet& portable() {
  static const PackedSet set = portable_packed();
  return set;
}

STARLING_AVX2 __m128i load128(const std::uint8_t* bytes) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
}

STARLING_AVX2 __m256i load256(const std::uint8_t* bytes) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes));
}

// -- bf16

// Eight bf16 values, in the lower halves of the lanes.
STARLING_AVX2 __m256i bf16_lanes(const float* values) {
  const __m256i bits = _mm256_castps_si256(_mm256_loadu_ps(values));
  const __m256i magnitude = _mm256_and_si256(bits, _mm256_set1_epi32(0x7fffffff));
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
  const __m256i sign = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(0x8000));
  const __m256i nan = _mm256_cmpgt_epi32(magnitude, _mm256_set1_epi32(0x7f800000));
  const __m256i quiet = _mm256_or_si256(sign, _mm256_set1_epi32(kNoScale));
  return _mm256_blendv_epi8(_mm256_srli_epi32(rounded, 16), quiet, nan);
}

STARLING_AVX2 void bf16_encode(const float* values, std::uint8_t* bytes, std::size_t size) {
  std::size_t i = 0;
  for (; i + 2 * kLanes <= size; i += 2 * kLanes) {
    const __m256i packed = _mm256_packus_epi32(bf16_lanes(values + i), bf16_lanes(values + i + kLanes));
    const __m256i in_order = _mm256_permute4x64_epi64(packed, 0xd8);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(bytes + 2 * i), in_order);
  }
  portable().bf16.encode(values + i, bytes + 2 * i, size - i);
}

STARLING_AVX2 bool bf16_sound(const std::uint8_t* bytes, std::size_t size, std::uint16_t bits_max) {
  const __m256i magnitude = _mm256_set1_epi16(0x7fff);
  const __m256i most = _mm256_set1_epi16(static_cast<short>(bits_max));
  __m256i bad = _mm256_setzero_si256();
  std::size_t i = 0;
  for (; i + 2 * kLanes <= size; i += 2 * kLanes) {
    bad = _mm256_or_si256(bad, _mm256_cmpgt_epi16(_mm256_and_si256(load256(bytes + 2 * i), magnitude), most));
  }
  return _mm256_testz_si256(bad, bad) != 0 && portable().bf16.sound(bytes + 2 * i, size - i, bits_max);
}

STARLING_AVX2 __m256 load_bf16(const std::uint8_t* bytes) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(load128(bytes)), 16));
}

STARLING_AVX2 void bf16_decode(const std::uint8_t* bytes, float* out, std::size_t size) {
  std::size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) _mm256_storeu_ps(out + i, load_bf16(bytes + 2 * i));
  portable().bf16.decode(bytes + 2 * i, out + i, size - i);
}

// -- blocks: whole ones here; a shorter last block is left to the portable kernels

STARLING_AVX2 std::uint32_t largest_lane(__m256i values) {
  __m128i half = _mm_max_epu32(_mm256_castsi256_si128(values), _mm256_extracti128_si256(values, 1));
  half = _mm_max_epu32(half, _mm_shuffle_epi32(half, 0x4e));
  half = _mm_max_epu32(half, _mm_shuffle_epi32(half, 0xb1));
  return static_cast<std::uint32_t>(_mm_cvtsi128_si32(half));
}

template <std::size_t kFloats>
STARLING_AVX2 std::uint32_t largest_of_block(const float* values) {
  const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
  __m256i found[2] = {};
  for (std::size_t i = 0; i < kFloats; i += 2 * kLanes) {
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

// 32 codes, one byte each.
STARLING_AVX2 __m256i codes_of(const float* values, __m256 inverse) {
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);  // undoes the order that packing gives the halves
  const __m256i low = _mm256_packs_epi32(rounded(values, inverse), rounded(values + kLanes, inverse));
  const __m256i high = _mm256_packs_epi32(rounded(values + 2 * kLanes, inverse), rounded(values + 3 * kLanes, inverse));
  return _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high), order);
}

// The largest of 32 bytes.
STARLING_AVX2 int largest_magnitude(__m256i magnitudes) {
  __m128i half = _mm_max_epu8(_mm256_castsi256_si128(magnitudes), _mm256_extracti128_si256(magnitudes, 1));
  // The smallest of the complements, 16 bits at a time; the upper byte joins the lower one first.
  half = _mm_max_epu8(half, _mm_srli_epi16(half, 8));
  half = _mm_sub_epi16(_mm_set1_epi16(255), _mm_and_si128(half, _mm_set1_epi16(255)));
  return 255 - (_mm_cvtsi128_si32(_mm_minpos_epu16(half)) & 0xffff);
}

STARLING_AVX2 __m256 scaled(__m128i eight_codes, __m256 scales) {
  return _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(eight_codes)), scales);
}

struct Int8 {
  static constexpr std::size_t kFloats = wire::kInt8BlockFloats;
  static constexpr std::size_t kCodeBytes = kFloats;
  static constexpr std::size_t kCodesPerByte = 1;
  static constexpr int kCodeMax = kInt8CodeMax;
  static const PackedKernels& portable_kernels() { return portable().int8; }

  // Store or load 32 codes at a time, a byte each.
  STARLING_AVX2 static void put(__m256i codes, std::uint8_t* bytes) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(bytes), codes);
  }
  STARLING_AVX2 static __m256i get(const std::uint8_t* bytes) { return load256(bytes); }
};

struct Int4 {
  static constexpr std::size_t kFloats = wire::kInt4BlockFloats;
  static constexpr std::size_t kCodeBytes = kFloats / 2;
  static constexpr std::size_t kCodesPerByte = 2;
  static constexpr int kCodeMax = kInt4CodeMax;
  static const PackedKernels& portable_kernels() { return portable().int4; }

  STARLING_AVX2 static void put(__m256i codes, std::uint8_t* bytes) {
    const __m256i halves = _mm256_add_epi8(codes, _mm256_set1_epi8(kInt4Zero));
    const __m256i pairs = _mm256_maddubs_epi16(halves, _mm256_set1_epi16(0x1001));  // first + 16 x second
    const __m128i packed = _mm_packus_epi16(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(bytes), packed);
  }
  STARLING_AVX2 static __m256i get(const std::uint8_t* bytes) {
    const __m128i pairs = load128(bytes);
    const __m128i first = _mm_and_si128(pairs, _mm_set1_epi8(15));
    const __m128i second = _mm_and_si128(_mm_srli_epi16(pairs, 4), _mm_set1_epi8(15));
    const __m256i halves = _mm256_set_m128i(_mm_unpackhi_epi8(first, second), _mm_unpacklo_epi8(first, second));
    return _mm256_sub_epi8(halves, _mm256_set1_epi8(kInt4Zero));
  }
};

std::uint16_t scale_of(const std::uint8_t* block) {
  std::uint16_t scale = 0;
  std::memcpy(&scale, block, sizeof scale);
  return scale;
}

constexpr std::size_t kStep = 32;

template <typename Format>
struct Blocks {
  static constexpr std::size_t kBytes = kBlockScaleBytes + Format::kCodeBytes;
  static constexpr std::size_t kFloats = Format::kFloats;

  STARLING_AVX2 static void encode_block(const float* values, std::uint8_t* block) {
    const std::uint16_t scale = block_scale(largest_of_block<kFloats>(values), Format::kCodeMax);
    const float inverse = inverse_of_scale(scale);
    std::memcpy(block, &scale, sizeof scale);
    block += kBlockScaleBytes;
    const __m256 inverses = _mm256_set1_ps(inverse);
    for (std::size_t i = 0; i < kFloats; i += kStep) {
      const __m256i codes = inverse == 0 ? _mm256_setzero_si256() : codes_of(values + i, inverses);
      Format::put(codes, block + i / Format::kCodesPerByte);
    }
  }

  STARLING_AVX2 static void encode(const float* values, std::uint8_t* bytes, std::size_t size) {
    for (; size >= kFloats; size -= kFloats, values += kFloats, bytes += kBytes) encode_block(values, bytes);
    Format::portable_kernels().encode(values, bytes, size);
  }

  STARLING_AVX2 static bool sound(const std::uint8_t* bytes, std::size_t size, std::uint16_t bits_max) {
    for (; size >= kFloats; size -= kFloats, bytes += kBytes) {
      __m256i magnitudes = _mm256_setzero_si256();
      for (std::size_t i = 0; i < kFloats; i += kStep) {
        const __m256i codes = Format::get(bytes + kBlockScaleBytes + i / Format::kCodesPerByte);
        magnitudes = _mm256_max_epu8(magnitudes, _mm256_abs_epi8(codes));
      }
      if (!block_sound(scale_of(bytes), bits_max, largest_magnitude(magnitudes), Format::kCodeMax)) return false;
    }
    return Format::portable_kernels().sound(bytes, size, bits_max);
  }

  STARLING_AVX2 static void decode_block(const std::uint8_t* block, float* out) {
    const __m256 scales = _mm256_set1_ps(float_from_bf16(scale_of(block)));
    block += kBlockScaleBytes;
    for (std::size_t i = 0; i < kFloats; i += kStep) {
      const __m256i codes = Format::get(block + i / Format::kCodesPerByte);
      const __m128i low = _mm256_castsi256_si128(codes);
      const __m128i high = _mm256_extracti128_si256(codes, 1);
      const __m128i eights[] = {low, _mm_srli_si128(low, 8), high, _mm_srli_si128(high, 8)};
      for (std::size_t k = 0; k < 4; ++k) {
        _mm256_storeu_ps(out + i + k * kLanes, scaled(eights[k], scales));
      }
    }
  }

  STARLING_AVX2 static void decode(const std::uint8_t* bytes, float* out, std::size_t size) {
    for (; size >= kFloats; size -= kFloats, bytes += kBytes, out += kFloats) decode_block(bytes, out);
    Format::portable_kernels().decode(bytes, out, size);
  }

  static PackedKernels kernels() { return {encode, sound, decode}; }
};

}  // namespace

PackedSet avx2_packed() {
  return {{bf16_encode, bf16_sound, bf16_decode}, Blocks<Int8>::kernels(), Blocks<Int4>::kernels()};
}

}  // namespace starling::averaging

#else

namespace starling::averaging {
PackedSet avx2_packed() { return portable_packed(); }
}  // namespace starling::averaging

#endif
