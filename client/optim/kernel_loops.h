// The only source of the kernels, compiled once for every kind of processor by a .cpp that sets STARLING_KERNEL to the
// attribute of its functions. Each element goes through identical operations in one order, whichever width the compiler
// chooses.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "client/optim/kernels.h"

#ifndef STARLING_KERNEL
#define STARLING_KERNEL
#endif

// Promises that outputs overlap no inputs, so that elements may be processed several at a time.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"  // builds for debugging do not vectorise
#define STARLING_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define STARLING_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace starling::optim {
namespace {

STARLING_KERNEL inline double squared_norm_loop(const float* values, std::size_t size) {
  constexpr std::size_t kLanes = 8;  // independent sums, so that the processor need not wait for each addition
  double lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double value = values[i + lane];
      lanes[lane] += value * value;
    }
  }
  for (; i < size; ++i) lanes[0] += static_cast<double>(values[i]) * values[i];
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

STARLING_KERNEL inline void plain_sgd_loop(const SgdStep& step, const Piece& piece) {
  const SgdStep s = step;  // a copy: the loop may keep it in registers
  const float* g = piece.gradient;
  const float* p = piece.from[0];
  float* p_new = piece.to[0];
  STARLING_INDEPENDENT
  for (std::size_t i = 0; i < piece.size; ++i) {
    const float direction = g[i] * s.gradient_scale + p[i] * s.decay;
    p_new[i] = p[i] - s.step_size * direction;
  }
}

STARLING_KERNEL inline void sgd_loop(const SgdStep& step, const Piece& piece) {
  const SgdStep s = step;
  const float* g = piece.gradient;
  const float* p = piece.from[0];
  const float* m = piece.from[1];
  float* p_new = piece.to[0];
  float* m_new = piece.to[1];
  STARLING_INDEPENDENT
  for (std::size_t i = 0; i < piece.size; ++i) {
    const float direction = g[i] * s.gradient_scale + p[i] * s.decay;
    const float first = m[i] * s.momentum + direction;
    p_new[i] = p[i] - s.step_size * (s.own * direction + s.share * first);
    m_new[i] = first;
  }
}

// One coordinate: its scaled gradient, its moments after this step, and the amount subtracted from it.
struct Adam {
  float scaled;
  float first;
  float second;
  float change;
};

STARLING_KERNEL inline Adam adam(const AdamWStep& s, float gradient, float m, float v) {
  const float scaled = gradient * s.gradient_scale;
  const float first = m * s.beta1 + scaled * s.beta1_rest;
  const float second = v * s.beta2 + (scaled * scaled) * s.beta2_rest;
  const float denominator = std::sqrt(second) * s.second_scale + s.epsilon;
  return {scaled, first, second, s.step_size * (first / denominator)};
}

STARLING_KERNEL inline void adamw_loop(const AdamWStep& step, const Piece& piece) {
  const AdamWStep s = step;
  const float* g = piece.gradient;
  const float* p = piece.from[0];
  const float* m = piece.from[1];
  const float* v = piece.from[2];
  float* p_new = piece.to[0];
  float* m_new = piece.to[1];
  float* v_new = piece.to[2];
  STARLING_INDEPENDENT
  for (std::size_t i = 0; i < piece.size; ++i) {
    const Adam now = adam(s, g[i], m[i], v[i]);
    p_new[i] = p[i] * s.decay - now.change;
    m_new[i] = now.first;
    v_new[i] = now.second;
  }
}

STARLING_KERNEL inline void lamb_direction_loop(const AdamWStep& step, const Piece& piece) {
  const AdamWStep s = step;
  const float* g = piece.gradient;
  const float* p = piece.from[0];
  const float* m = piece.from[1];
  const float* v = piece.from[2];
  float* u = piece.to[0];
  STARLING_INDEPENDENT
  for (std::size_t i = 0; i < piece.size; ++i) {
    const Adam now = adam(s, g[i], m[i], v[i]);
    u[i] = now.change + p[i] * s.decay;
  }
}

STARLING_KERNEL inline void lamb_loop(const LambStep& step, const Piece& piece) {
  const AdamWStep s = step.direction;
  const float rate = step.rate;
  const float* g = piece.gradient;
  const float* p = piece.from[0];
  const float* m = piece.from[1];
  const float* v = piece.from[2];
  float* p_new = piece.to[0];
  float* m_new = piece.to[1];
  float* v_new = piece.to[2];
  STARLING_INDEPENDENT
  for (std::size_t i = 0; i < piece.size; ++i) {
    const Adam now = adam(s, g[i], m[i], v[i]);
    p_new[i] = p[i] - rate * (now.change + p[i] * s.decay);
    m_new[i] = now.first;
    v_new[i] = now.second;
  }
}

STARLING_KERNEL inline void accum_adamw_loop(const AccumAdamWStep& step, const Piece& piece) {
  const AdamWStep s = step.adamw;
  const float share = step.share;
  const float* g = piece.gradient;
  const float* p = piece.from[0];
  const float* m = piece.from[1];
  const float* v = piece.from[2];
  const float* a = piece.from[3];
  float* p_new = piece.to[0];
  float* a_new = piece.to[3];
  STARLING_INDEPENDENT
  for (std::size_t i = 0; i < piece.size; ++i) {
    const Adam now = adam(s, g[i], m[i], v[i]);
    p_new[i] = p[i] * s.decay - now.change;
    a_new[i] = a[i] + now.scaled * share;
  }
}

STARLING_KERNEL inline void accum_adamw_last_loop(const AccumAdamWStep& step, const Piece& piece) {
  accum_adamw_loop(step, piece);
  const AdamWStep s = step.adamw;
  const float* m = piece.from[1];
  const float* v = piece.from[2];
  float* m_new = piece.to[1];
  float* v_new = piece.to[2];
  float* a_new = piece.to[3];
  STARLING_INDEPENDENT
  for (std::size_t i = 0; i < piece.size; ++i) {
    const float gathered = a_new[i];
    m_new[i] = m[i] * s.beta1 + gathered * s.beta1_rest;
    v_new[i] = v[i] * s.beta2 + (gathered * gathered) * s.beta2_rest;
    a_new[i] = 0;
  }
}

using Lanes = float __attribute__((vector_size(32)));
inline constexpr std::size_t kTileRows = 4;
inline constexpr std::size_t kTileColumns = 16;
inline constexpr std::size_t kTileDepth = 256;

// sums (kRows × kTileColumns) += kRows rows of a, `stride` apart, times a panel of b.
template <std::size_t kRows>
STARLING_KERNEL inline void multiply_tile(const float* a, std::size_t stride, const float* panel, std::size_t depth,
                                          float* sums) {
  Lanes sum[kRows][2];
  std::memcpy(sum, sums, sizeof sum);
  for (std::size_t k = 0; k < depth; ++k) {
    Lanes left, right;
    std::memcpy(&left, panel + k * kTileColumns, sizeof left);
    std::memcpy(&right, panel + k * kTileColumns + kTileColumns / 2, sizeof right);
    for (std::size_t row = 0; row < kRows; ++row) {
      const float factor = a[row * stride + k];
      sum[row][0] += factor * left;
      sum[row][1] += factor * right;
    }
  }
  std::memcpy(sums, sum, sizeof sum);
}

// Computes all rows of the product's columns from `column` on, over `depth` of the inner indices from `inner` on.
STARLING_KERNEL inline void multiply_panel(const MatrixProduct& m, std::size_t inner, std::size_t depth,
                                           std::size_t column) {
  alignas(32) float panel[kTileDepth * kTileColumns];
  alignas(32) float sums[kTileRows * kTileColumns] = {};
  const std::size_t columns = std::min(kTileColumns, m.columns - column);
  for (std::size_t k = 0; k < depth; ++k) {
    std::memset(panel + k * kTileColumns, 0, kTileColumns * sizeof(float));
    std::memcpy(panel + k * kTileColumns, m.b + (inner + k) * m.columns + column, columns * sizeof(float));
  }
  for (std::size_t first = 0; first < m.rows; first += kTileRows) {
    const std::size_t rows = std::min(kTileRows, m.rows - first);
    float* out = m.out + first * m.columns + column;
    const float* a = m.a + first * m.inner + inner;
    for (std::size_t row = 0; row < rows; ++row) {
      std::memcpy(sums + row * kTileColumns, out + row * m.columns, columns * sizeof(float));
    }
    if (rows == kTileRows) {
      multiply_tile<kTileRows>(a, m.inner, panel, depth, sums);
    } else {
      for (std::size_t row = 0; row < rows; ++row) {
        multiply_tile<1>(a + row * m.inner, m.inner, panel, depth, sums + row * kTileColumns);
      }
    }
    for (std::size_t row = 0; row < rows; ++row) {
      std::memcpy(out + row * m.columns, sums + row * kTileColumns, columns * sizeof(float));
    }
  }
}

STARLING_KERNEL inline void multiply_loop(const MatrixProduct& product) {
  std::fill(product.out, product.out + product.rows * product.columns, 0.0F);
  for (std::size_t inner = 0; inner < product.inner; inner += kTileDepth) {
    const std::size_t depth = std::min(kTileDepth, product.inner - inner);
    for (std::size_t column = 0; column < product.columns; column += kTileColumns) {
      multiply_panel(product, inner, depth, column);
    }
  }
}

// A hash of 32 bits (Wellons, "lowbias32", 2018).
STARLING_KERNEL inline std::uint32_t scattered(std::uint32_t x) {
  x = (x ^ x >> 16) * 0x7feb352dU;
  x = (x ^ x >> 15) * 0x846ca68bU;
  return x ^ x >> 16;
}

// Rounds one block, given as bits.
STARLING_KERNEL inline void round_block(const wire::NarrowFloats& to, std::uint32_t chance, std::uint32_t* values,
                                        std::size_t size) {
  constexpr int kMantissaBits = 23;
  constexpr std::uint32_t kSign = 1U << 31;
  const std::uint32_t dropped = (1U << (kMantissaBits - to.mantissa_bits)) - 1;
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint32_t up = scattered(chance + static_cast<std::uint32_t>(i)) & dropped;
    const std::uint32_t magnitude = ((values[i] & ~kSign) + up) & ~dropped;
    values[i] = (values[i] & kSign) | magnitude;
    largest = std::max(largest, magnitude);
  }
  const int exponent = std::max(1, static_cast<int>(largest >> kMantissaBits) - to.exponents + 1);
  const std::uint32_t least = static_cast<std::uint32_t>(exponent) << kMantissaBits;
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint32_t magnitude = values[i] & ~kSign;
    const bool is_held = magnitude >= least;
    const std::uint32_t otherwise = to.is_signed || magnitude == 0 ? 0 : least;
    values[i] = is_held ? values[i] : otherwise;
  }
}

STARLING_KERNEL inline void round_moments_loop(const Rounding& rounding, float* values, std::size_t size) {
  std::uint32_t block[wire::kMomentBlockFloats];
  for (std::size_t begin = 0; begin < size; begin += wire::kMomentBlockFloats) {
    const std::size_t count = std::min(wire::kMomentBlockFloats, size - begin);
    std::memcpy(block, values + begin, count * sizeof(float));
    // The hash makes neighbours' chances independent.
    const auto place = static_cast<std::uint32_t>(rounding.first + begin);
    round_block(rounding.to, rounding.chance + place, block, count);
    std::memcpy(values + begin, block, count * sizeof(float));
  }
}

inline constexpr Kernels kLoops = {squared_norm_loop,   plain_sgd_loop,    sgd_loop,         adamw_loop,
                                   lamb_direction_loop, lamb_loop,         accum_adamw_loop, accum_adamw_last_loop,
                                   multiply_loop,       round_moments_loop};

}  // namespace
}  // namespace starling::optim
