#include "client/averaging/kernels.h"
#include "client/averaging/packed_kernels.h"
#include "client/averaging/sparse_kernels.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

#include <algorithm>
#include <cstring>

namespace starling::averaging {
namespace {

// Only these functions are compiled for AVX2: the rest of the program runs on any x86-64 processor.
#define STARLING_AVX2 __attribute__((target("avx2,f16c")))

constexpr std::size_t kLanes = 8;
constexpr std::size_t kLineBytes = 64;
constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

STARLING_AVX2 __m256 load_floats(const std::uint8_t* bytes, std::size_t i) {
  return _mm256_loadu_ps(reinterpret_cast<const float*>(bytes) + i);
}

// Fetches ahead in a vector that is in no cache; the processor by itself fetches too little ahead. Nothing is read, so
// the address may be past the vector's end.
void fetch_ahead(const void* at) {
  constexpr std::uintptr_t kAhead = 2048;
  _mm_prefetch(reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(at) + kAhead), _MM_HINT_T0);
}

// The largest magnitude of whole vectors of floats, four at a time. Four members, not an array: GCC 12 keeps an array
// in memory, at a third of the speed.
struct LargestFloat {
  __m256i first = {}, second = {}, third = {}, fourth = {};

  STARLING_AVX2 static __m256i larger(__m256i found, __m256 floats) {
    return _mm256_max_epu32(found, _mm256_and_si256(_mm256_castps_si256(floats), _mm256_set1_epi32(0x7fffffff)));
  }
  STARLING_AVX2 void take(__m256 a, __m256 b, __m256 c, __m256 d) {
    first = larger(first, a);
    second = larger(second, b);
    third = larger(third, c);
    fourth = larger(fourth, d);
  }
  [[nodiscard]] STARLING_AVX2 std::uint32_t bits() const {
    const __m256i all = _mm256_max_epu32(_mm256_max_epu32(first, second), _mm256_max_epu32(third, fourth));
    alignas(32) std::uint32_t lanes[kLanes];
    _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), all);
    return *std::max_element(lanes, lanes + kLanes);
  }
};

STARLING_AVX2 std::uint32_t largest(const std::uint8_t* floats, std::size_t size) {
  LargestFloat found;
  std::size_t i = 0;
  for (; i + 4 * kLanes <= size; i += 4 * kLanes) {
    found.take(load_floats(floats, i), load_floats(floats, i + kLanes), load_floats(floats, i + 2 * kLanes),
               load_floats(floats, i + 3 * kLanes));
  }
  return std::max(found.bits(), portable_kernels().largest(floats + 4 * i, size - i));
}

// Values up to the next whole cache line.
std::size_t values_before_line(const float* at, std::size_t size) {
  constexpr std::size_t kLineFloats = kLineBytes / sizeof(float);
  const std::size_t past = reinterpret_cast<std::uintptr_t>(at) / sizeof(float) % kLineFloats;
  return std::min(size, (kLineFloats - past) % kLineFloats);
}

STARLING_AVX2 std::uint32_t copy(const std::uint8_t* floats, float* out, std::size_t size) {
  LargestFloat found;
  std::size_t i = values_before_line(out, size);
  const std::uint32_t before = portable_kernels().copy(floats, out, i);
  for (; i + 4 * kLanes <= size; i += 4 * kLanes) {
    const __m256 a = load_floats(floats, i);
    const __m256 b = load_floats(floats, i + kLanes);
    const __m256 c = load_floats(floats, i + 2 * kLanes);
    const __m256 d = load_floats(floats, i + 3 * kLanes);
    found.take(a, b, c, d);
    _mm256_stream_ps(out + i, a);
    _mm256_stream_ps(out + i + kLanes, b);
    _mm256_stream_ps(out + i + 2 * kLanes, c);
    _mm256_stream_ps(out + i + 3 * kLanes, d);
  }
  _mm_sfence();  // other threads see these stores before any later ones of this thread
  return std::max({before, found.bits(), portable_kernels().copy(floats + 4 * i, out + i, size - i)});
}

STARLING_AVX2 void add(const std::uint8_t* floats, const float* base, float* sum, std::size_t size) {
  std::size_t i = 0;
  for (; i + 2 * kLanes <= size; i += 2 * kLanes) {
    fetch_ahead(base + i);
    fetch_ahead(sum + i);
    const __m256 low = _mm256_add_ps(_mm256_loadu_ps(base + i), load_floats(floats, i));
    const __m256 high = _mm256_add_ps(_mm256_loadu_ps(base + i + kLanes), load_floats(floats, i + kLanes));
    _mm256_storeu_ps(sum + i, low);
    _mm256_storeu_ps(sum + i + kLanes, high);
  }
  portable_kernels().add(floats + 4 * i, base + i, sum + i, size - i);
}

STARLING_AVX2 __m256d plus_squares(__m256d sums, __m128 floats) {
  const __m256d values = _mm256_cvtps_pd(floats);
  return _mm256_add_pd(sums, _mm256_mul_pd(values, values));
}

// The squares of floats or, centered, of floats - center * factor.
template <bool kCentered>
STARLING_AVX2 double sum_of_squares(const std::uint8_t* floats, const float* center, float factor, std::size_t size) {
  __m256d first = {}, second = {}, third = {}, fourth = {};
  const __m256 factors = _mm256_set1_ps(factor);
  std::size_t i = 0;
  for (; i + kSquareSums <= size; i += kSquareSums) {
    fetch_ahead(floats + sizeof(float) * i);
    __m256 low = load_floats(floats, i);
    __m256 high = load_floats(floats, i + kLanes);
    if constexpr (kCentered) {
      low = _mm256_sub_ps(low, _mm256_mul_ps(_mm256_loadu_ps(center + i), factors));
      high = _mm256_sub_ps(high, _mm256_mul_ps(_mm256_loadu_ps(center + i + kLanes), factors));
    }
    first = plus_squares(first, _mm256_castps256_ps128(low));
    second = plus_squares(second, _mm256_extractf128_ps(low, 1));
    third = plus_squares(third, _mm256_castps256_ps128(high));
    fourth = plus_squares(fourth, _mm256_extractf128_ps(high, 1));
  }
  double sums[kSquareSums];
  _mm256_storeu_pd(sums, first);
  _mm256_storeu_pd(sums + 4, second);
  _mm256_storeu_pd(sums + 8, third);
  _mm256_storeu_pd(sums + 12, fourth);
  for (std::size_t k = 0; i + k < size; ++k) {
    float value = 0;
    std::memcpy(&value, floats + sizeof value * (i + k), sizeof value);
    if constexpr (kCentered) value -= center[i + k] * factor;
    sums[k] += static_cast<double>(value) * value;
  }
  return added_by_halves(sums);
}

double square_sum(const std::uint8_t* floats, std::size_t size) {
  return sum_of_squares<false>(floats, nullptr, 0, size);
}

double square_distance(const std::uint8_t* floats, const float* center, float factor, std::size_t size) {
  return sum_of_squares<true>(floats, center, factor, size);
}

STARLING_AVX2 void divide(float* values, float divisor, std::size_t size) {
  const __m256 divisors = _mm256_set1_ps(divisor);
  std::size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    _mm256_storeu_ps(values + i, _mm256_div_ps(_mm256_loadu_ps(values + i), divisors));
  }
  portable_kernels().divide(values + i, divisor, size - i);
}

STARLING_AVX2 float dot(const float* a, const float* b, std::size_t size) {
  constexpr std::size_t kSums = 4 * kLanes;
  __m256 sums[4] = {};
  std::size_t i = 0;
  for (; i + kSums <= size; i += kSums) {
    for (std::size_t k = 0; k < 4; ++k) {
      const std::size_t at = i + k * kLanes;
      sums[k] = _mm256_add_ps(sums[k], _mm256_mul_ps(_mm256_loadu_ps(a + at), _mm256_loadu_ps(b + at)));
    }
  }
  alignas(32) float all[kSums];
  for (std::size_t k = 0; k < 4; ++k) _mm256_store_ps(all + k * kLanes, sums[k]);
  for (std::size_t k = 0; i + k < size; ++k) all[k] += a[i + k] * b[i + k];
  for (std::size_t half = kSums / 2; half > 0; half /= 2) {
    for (std::size_t k = 0; k < half; ++k) all[k] += all[k + half];
  }
  return all[0];
}

STARLING_AVX2 void add_scaled(const float* values, float factor, float* sum, std::size_t size) {
  const __m256 factors = _mm256_set1_ps(factor);
  std::size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    const __m256 scaled = _mm256_mul_ps(_mm256_loadu_ps(values + i), factors);
    _mm256_storeu_ps(sum + i, _mm256_add_ps(_mm256_loadu_ps(sum + i), scaled));
  }
  portable_kernels().add_scaled(values + i, factor, sum + i, size - i);
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

// The largest magnitude of halves, 16 a vector.
struct LargestHalf {
  __m256i found = {};

  STARLING_AVX2 void take(__m256i halves) {
    found = _mm256_max_epi16(found, _mm256_and_si256(halves, _mm256_set1_epi16(0x7fff)));
  }
  [[nodiscard]] STARLING_AVX2 std::uint16_t bits() const {
    const __m128i both = _mm_max_epi16(_mm256_castsi256_si128(found), _mm256_extracti128_si256(found, 1));
    // There is an instruction for the smallest of eight, not for the largest.
    const __m128i smallest = _mm_minpos_epu16(_mm_sub_epi16(_mm_set1_epi16(0x7fff), both));
    return static_cast<std::uint16_t>(0x7fff - (_mm_cvtsi128_si32(smallest) & 0xffff));
  }
};

STARLING_AVX2 __m256i load_sixteen_halves(const std::uint8_t* bytes, std::size_t i) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + 2 * i));
}

STARLING_AVX2 std::uint16_t from_halves(const std::uint8_t* halves, float scale, float* out, std::size_t size) {
  const __m256 scales = _mm256_set1_ps(scale);
  LargestHalf found;
  std::size_t i = 0;
  for (; i + 2 * kLanes <= size; i += 2 * kLanes) {
    const __m256i both = load_sixteen_halves(halves, i);
    found.take(both);
    _mm256_storeu_ps(out + i, _mm256_mul_ps(_mm256_cvtph_ps(_mm256_castsi256_si128(both)), scales));
    _mm256_storeu_ps(out + i + kLanes, _mm256_mul_ps(_mm256_cvtph_ps(_mm256_extracti128_si256(both, 1)), scales));
  }
  return std::max(found.bits(), portable_kernels().from_halves(halves + 2 * i, scale, out + i, size - i));
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
  static const PackedSet packed = avx2_packed();
  static const Kernels kAvx2 = {largest,     copy,        add,         square_sum, square_distance,
                                divide,      dot,         add_scaled,  to_halves,  from_halves,
                                packed.bf16, packed.int8, packed.int4, avx2_select};
  static const bool usable = __builtin_cpu_supports("avx2") != 0 && processor_has_f16c();
  return usable ? &kAvx2 : nullptr;
}

}  // namespace starling::averaging

#else

namespace starling::averaging {
const Kernels* avx2_kernels() { return nullptr; }
}  // namespace starling::averaging

#endif
