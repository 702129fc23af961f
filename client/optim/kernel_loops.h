// The one text of the kernels, compiled once for every kind of processor by a .cpp that sets STARLING_KERNEL to the
// attribute its functions shall have. Each element goes through the same operations in the same order, whichever
// width the compiler chooses.
#pragma once

#include <cmath>
#include <cstddef>

#include "client/optim/kernels.h"

#ifndef STARLING_KERNEL
#define STARLING_KERNEL
#endif

// What is written overlaps nothing that is read, so that elements may be taken several at a time.
#if defined(__clang__)
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
    const float scaled = g[i] * s.gradient_scale;
    const float first = m[i] * s.beta1 + scaled * s.beta1_rest;
    const float second = v[i] * s.beta2 + (scaled * scaled) * s.beta2_rest;
    const float denominator = std::sqrt(second) * s.second_scale + s.epsilon;
    p_new[i] = p[i] * s.decay - s.step_size * (first / denominator);
    m_new[i] = first;
    v_new[i] = second;
  }
}

inline constexpr Kernels kLoops = {squared_norm_loop, plain_sgd_loop, sgd_loop, adamw_loop};

}  // namespace
}  // namespace starling::optim
