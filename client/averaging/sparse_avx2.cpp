#include "client/averaging/sparse_kernels.h"
#include "shared/wire/codec.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace starling::averaging {
namespace {

#define STARLING_AVX2 __attribute__((target("avx2")))

constexpr std::size_t kLanes = 8;
constexpr std::size_t kFloats = wire::kSparseChunkFloats;
constexpr std::size_t kWanted = wire::sparse_values(kFloats);
// The largest value of each of kGroups groups, one group a lane, is found first. The smallest of the kWanted largest of
// these is not above the bound that is looked for, and few other values are larger.
constexpr std::size_t kGroups = 2 * kWanted;
constexpr unsigned kMagnitudeBits = 31;
constexpr unsigned kRoughBits = 15;  // low bits that need not be known to tell which values are worth a closer look

using Magnitudes = std::array<std::int32_t, kFloats + kLanes>;

STARLING_AVX2 __m256i load_magnitudes(const float* values) {
  return _mm256_and_si256(_mm256_castps_si256(_mm256_loadu_ps(values)), _mm256_set1_epi32(0x7fffffff));
}

STARLING_AVX2 __m256i load(const std::int32_t* values) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values));
}

STARLING_AVX2 void largest_of_groups(const float* values, std::int32_t* found) {
  constexpr std::size_t kAtOnce = 8;  // registers
  constexpr std::size_t kStride = kAtOnce * kLanes;
  constexpr std::size_t kRun = kFloats / (kGroups / kStride);
  for (std::size_t begin = 0; begin < kFloats; begin += kRun, found += kStride) {
    __m256i largest[kAtOnce] = {};
    for (std::size_t i = begin; i < begin + kRun; i += kStride) {
      for (std::size_t k = 0; k < kAtOnce; ++k) {
        largest[k] = _mm256_max_epi32(largest[k], load_magnitudes(values + i + k * kLanes));
      }
    }
    for (std::size_t k = 0; k < kAtOnce; ++k) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(found + k * kLanes), largest[k]);
    }
  }
}

STARLING_AVX2 std::size_t count_above(const std::int32_t* values, std::size_t size, std::int32_t bound) {
  const __m256i bounds = _mm256_set1_epi32(bound);
  __m256i counts = _mm256_setzero_si256();
  for (std::size_t i = 0; i < size; i += kLanes) {
    counts = _mm256_sub_epi32(counts, _mm256_cmpgt_epi32(load(values + i), bounds));
  }
  __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(counts), _mm256_extracti128_si256(counts, 1));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1));
  return static_cast<std::size_t>(_mm_cvtsi128_si32(sum));
}

// The largest number, its lowest bits zero, that at least kWanted values reach. Sizes are whole vectors.
STARLING_AVX2 std::int32_t reached_by_wanted(const std::int32_t* values, std::size_t size, unsigned zero_bits) {
  std::int32_t least = 0;
  for (unsigned bit = kMagnitudeBits; bit-- > zero_bits;) {
    const std::int32_t higher = least | std::int32_t{1} << bit;
    least = count_above(values, size, higher - 1) >= kWanted ? higher : least;
  }
  return least;
}

// Fetches the corresponding 128 bytes of the next chunk while this one is worked on. An address without memory does no
// harm.
STARLING_AVX2 void prefetch_next(const float* values) {
  const auto* bytes = reinterpret_cast<const char*>(values) + kFloats * sizeof(float);
  _mm_prefetch(bytes, _MM_HINT_T0);
  _mm_prefetch(bytes + 64, _MM_HINT_T0);
}

// Indices and magnitudes of the values above the bound.
STARLING_AVX2 std::size_t gather_above(const float* values, std::int32_t bound, std::uint16_t* indices,
                                       std::int32_t* magnitudes) {
  const __m256i bounds = _mm256_set1_epi32(bound);
  std::size_t count = 0;
  for (std::size_t i = 0; i < kFloats; i += 4 * kLanes) {
    prefetch_next(values + i);
    unsigned above = 0;
    for (unsigned k = 0; k < 4; ++k) {
      const __m256i larger = _mm256_cmpgt_epi32(load_magnitudes(values + i + k * kLanes), bounds);
      above |= static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(larger))) << k * kLanes;
    }
    for (; above != 0; above &= above - 1) {
      const std::size_t index = i + static_cast<std::size_t>(__builtin_ctz(above));
      indices[count] = static_cast<std::uint16_t>(index);
      std::memcpy(&magnitudes[count++], values + index, sizeof(float));
    }
  }
  for (std::size_t k = 0; k < count; ++k) magnitudes[k] &= 0x7fffffff;
  return count;
}

// The values that are not zero, when they are too few, and the first zeros between them.
void with_zeros(const std::uint16_t* others, std::size_t count, std::uint16_t* chosen) {
  std::size_t zeros = kWanted - count;
  std::size_t used = 0;
  for (std::uint16_t index = 0; zeros > 0; ++index) {
    if (used < count && others[used] == index) {
      ++used;
    } else {
      --zeros;
    }
    *chosen++ = index;
  }
  std::copy(others + used, others + count, chosen);
}

STARLING_AVX2 void select_of_chunk(const float* values, std::uint16_t* chosen) {
  Magnitudes magnitudes;
  std::array<std::uint16_t, kFloats> indices;
  largest_of_groups(values, magnitudes.data());
  const std::int32_t rough = reached_by_wanted(magnitudes.data(), kGroups, kRoughBits);
  const std::size_t count = gather_above(values, rough == 0 ? 0 : rough - 1, indices.data(), magnitudes.data());
  if (count < kWanted) return with_zeros(indices.data(), count, chosen);
  const std::size_t padded = (count + kLanes - 1) / kLanes * kLanes;
  std::fill(magnitudes.begin() + count, magnitudes.begin() + padded, -1);
  const std::int32_t last = reached_by_wanted(magnitudes.data(), padded, 0);
  std::size_t ties = kWanted - count_above(magnitudes.data(), padded, last);
  for (std::size_t k = 0; k < count; ++k) {
    const bool tie = magnitudes[k] == last;
    if (magnitudes[k] < last || (tie && ties == 0)) continue;
    ties -= tie ? 1 : 0;
    *chosen++ = indices[k];
  }
}

}  // namespace

void avx2_select(const float* values, std::size_t size, std::size_t wanted, std::uint16_t* chosen) {
  if (size != kFloats || wanted != kWanted) return portable_select(values, size, wanted, chosen);
  select_of_chunk(values, chosen);
}

}  // namespace starling::averaging

#else

namespace starling::averaging {
void avx2_select(const float* values, std::size_t size, std::size_t wanted, std::uint16_t* chosen) {
  portable_select(values, size, wanted, chosen);
}
}  // namespace starling::averaging

#endif
