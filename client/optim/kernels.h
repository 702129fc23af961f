// The loops over whole vectors, for the present processor. Every version gives identical bits (single and double
// precision IEEE operations in a fixed order, no fused multiply-add), so replicas with different processors agree.
#pragma once

#include <array>
#include <cstddef>

#include "client/optim/step_journal.h"
#include "shared/run/moments.h"

namespace starling::optim {

// Pieces of equal length of the gradient and of the state's vectors: [0] parameters, then the optimizer's.
struct Piece {
  std::size_t size = 0;
  const float* gradient = nullptr;
  std::array<const float*, kStepVectorsMax> from = {};
  std::array<float*, kStepVectorsMax> to = {};  // overlaps none of the inputs
};

// Coefficients that all elements of a step share, each rounded once from double precision.

// d = scaled gradient + decay · p;  m ← momentum · m + d;  p ← p - step_size · (own · d + share · m)
struct SgdStep {
  float gradient_scale = 1;
  float decay = 0;
  float momentum = 0;
  float own = 0, share = 1;
  float step_size = 0;
};

// m ← β1 m + (1-β1) g,  v ← β2 v + (1-β2) g²,  p ← p·decay - step_size · m / (sqrt(v)·second_scale + ε)
// with g the scaled gradient.
struct AdamWStep {
  float gradient_scale = 1;         // clipping
  float decay = 1;                  // factor on parameters: 1 - learning rate × weight decay
  float beta1 = 0, beta1_rest = 0;  // β and 1 - β
  float beta2 = 0, beta2_rest = 0;
  float step_size = 0;     // learning rate / (1 - β1^t)
  float second_scale = 0;  // 1 / sqrt(1 - β2^t)
  float epsilon = 0;
};

// u = step_size · m / (sqrt(v)·second_scale + ε) + decay · p, with the moments of AdamW;  p ← p - rate · u
struct LambStep {
  AdamWStep direction;
  float rate = 0;  // learning rate × the tensor's trust ratio
};

// AdamW, except that m and v are computed from the stored ones again for every step, and a ← a + share · g gathers the
// mean gradient that will update them.
struct AccumAdamWStep {
  AdamWStep adamw;
  float share = 1;  // 1 / rounds of a window
};

// out = a · b; a has `rows` rows of `inner` floats, b `inner` rows of `columns`, without gaps.
struct MatrixProduct {
  const float* a = nullptr;
  const float* b = nullptr;
  float* out = nullptr;
  std::size_t rows = 0, inner = 0, columns = 0;
};

// The format that moments are rounded to, and the random bits, equal on all replicas. Rounding goes up or down with
// proportional probability (stochastic rounding, Gupta et al., ICML 2015): otherwise a moment that every step moves by
// less than a rounding would never change.
struct Rounding {
  wire::NarrowFloats to;
  std::uint32_t chance = 0;
  std::size_t first = 0;  // place of the first value in its vector; at the start of a block
};

struct Kernels {
  // Sum of squares in double precision; not finite exactly when some value is not.
  double (*squared_norm)(const float* values, std::size_t size);
  // p ← p - step_size · d, without a momentum vector.
  void (*plain_sgd)(const SgdStep& step, const Piece& piece);
  void (*sgd)(const SgdStep& step, const Piece& piece);
  void (*adamw)(const AdamWStep& step, const Piece& piece);
  // Writes u alone, to to[0].
  void (*lamb_direction)(const AdamWStep& step, const Piece& piece);
  void (*lamb)(const LambStep& step, const Piece& piece);
  // Writes p and a.
  void (*accum_adamw)(const AccumAdamWStep& step, const Piece& piece);
  // The last step of a window: also updates m and v with the gathered gradient, and clears a.
  void (*accum_adamw_last)(const AccumAdamWStep& step, const Piece& piece);
  // Each element's sum runs over `inner` from 0 upwards, in single precision.
  void (*multiply)(const MatrixProduct& product);
  // Values that are narrow floats already do not change. Second moments below the least value become that value rather
  // than zero, because steps are divided by their roots.
  void (*round_moments)(const Rounding& rounding, float* values, std::size_t size);
};

const Kernels& portable_kernels();
// The kernels with AVX2; null if the processor lacks it.
const Kernels* avx2_kernels();
// The fastest kernels for this processor.
const Kernels& kernels();

}  // namespace starling::optim
