#include "client/models/causal_softmax.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace starling::models {

// Uses the widest vectors of the present processor, chosen when the program is loaded. Gradients may differ in the last
// bits between machines; states may not, so client/optim does not do this.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define STARLING_VECTOR_CLONES __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define STARLING_VECTOR_CLONES
#endif

namespace {

// e^x for x <= 0 with relative error below 2e-7; branch-free, so that loops over it vectorise. x = k ln 2 + r, |r| <=
// ln 2 / 2, and e^r by its Taylor polynomial.
inline float exp_of_negative(float x) {
  constexpr float kSmallest = -87.0F;  // below it, e^x is no normal float
  constexpr float kLog2E = 1.44269504F;
  constexpr float kLn2 = 0.693147181F;
  x = x < kSmallest ? kSmallest : x;  // not std::max, which could lose a NaN
  const auto k = static_cast<std::int32_t>(x * kLog2E - 0.5F);
  const float r = x - static_cast<float>(k) * kLn2;
  const float power = 1 + r * (1 + r * (0.5F + r * (1 / 6.0F + r * (1 / 24.0F + r * (1 / 120.0F + r * (1 / 720.0F))))));
  const auto exponent = static_cast<std::uint32_t>(k + 127) << 23;
  return power * std::bit_cast<float>(exponent);
}

}  // namespace

STARLING_VECTOR_CLONES
void causal_softmax(float* scores, int context, float scale) {
  for (int t = 0; t < context; ++t) {
    float* row = scores + static_cast<std::size_t>(t) * context;
    float largest = row[0];
    for (int j = 1; j <= t; ++j) largest = row[j] > largest ? row[j] : largest;
    float sum = 0;
    for (int j = 0; j <= t; ++j) {
      row[j] = exp_of_negative((row[j] - largest) * scale);
      sum += row[j];
    }
    const float factor = 1 / sum;
    for (int j = 0; j <= t; ++j) row[j] *= factor;
    std::fill(row + t + 1, row + context, 0.0F);
  }
}

STARLING_VECTOR_CLONES
void causal_softmax_backward(const float* probability, float* gradient, int context, float scale) {
  for (int t = 0; t < context; ++t) {
    const float* p = probability + static_cast<std::size_t>(t) * context;
    float* g = gradient + static_cast<std::size_t>(t) * context;
    float dot = 0;
    for (int j = 0; j <= t; ++j) dot += p[j] * g[j];
    for (int j = 0; j <= t; ++j) g[j] = p[j] * (g[j] - dot) * scale;
    std::fill(g + t + 1, g + context, 0.0F);
  }
}

}  // namespace starling::models
