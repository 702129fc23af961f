#include "shared/swarm/sketch.h"

#if defined(__x86_64__)

#include <immintrin.h>

namespace starling::swarm {
namespace {

// Only these functions are compiled for AVX2: the rest of the program runs on any x86-64 processor.
#define STARLING_AVX2 __attribute__((target("avx2")))

constexpr std::size_t kLanes = 8;
constexpr std::size_t kVectors = kSketchBuckets / kLanes;

// The buckets stay in registers, and vectors change places by the address from which they are loaded.
STARLING_AVX2 void rows_with_avx2(const Hash128& seed, std::uint64_t row, std::span<const float> rows, float* buckets) {
  const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256i to_sign = _mm256_setr_epi32(31, 30, 29, 28, 27, 26, 25, 24);
  const __m256i sign = _mm256_set1_epi32(static_cast<int>(0x80000000U));
  __m256 sums[kVectors];
#pragma GCC unroll 8
  for (std::size_t v = 0; v < kVectors; ++v) sums[v] = _mm256_loadu_ps(buckets + v * kLanes);
  for (std::size_t at = 0; at < rows.size(); at += kSketchBuckets, ++row) {
    const SketchRow dealt = sketch_row(seed, row);
    const __m256i exchange = _mm256_xor_si256(lanes, _mm256_set1_epi32(static_cast<int>(dealt.exchange % kLanes)));
    const std::size_t vector_exchange = dealt.exchange / kLanes;
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kVectors; ++v) {
      const std::size_t from = v ^ vector_exchange;
      const __m256i bits = _mm256_set1_epi32(static_cast<int>(dealt.signs >> (from * kLanes) & 0xff));
      const __m256i signs = _mm256_and_si256(_mm256_sllv_epi32(bits, to_sign), sign);
      const __m256 values = _mm256_loadu_ps(rows.data() + at + from * kLanes);
      const __m256 negated = _mm256_xor_ps(values, _mm256_castsi256_ps(signs));
      sums[v] = _mm256_add_ps(sums[v], _mm256_permutevar8x32_ps(negated, exchange));
    }
  }
#pragma GCC unroll 8
  for (std::size_t v = 0; v < kVectors; ++v) _mm256_storeu_ps(buckets + v * kLanes, sums[v]);
}

}  // namespace

SketchRows avx2_sketch_rows() {
  static const bool usable = __builtin_cpu_supports("avx2") != 0;
  return usable ? rows_with_avx2 : nullptr;
}

}  // namespace starling::swarm

#else

namespace starling::swarm {
SketchRows avx2_sketch_rows() { return nullptr; }
}  // namespace starling::swarm

#endif
