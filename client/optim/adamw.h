// The arithmetic of one AdamW step on a stretch of the flat vectors. Pure: reads one set of vectors and
// writes another.
#pragma once

#include <cstddef>
#include <span>

#include "shared/base/ids.h"
#include "shared/wire/run_manifest.h"

namespace starling::optim {

// What all elements of a step have in common, each rounded once from double precision.
struct AdamWStep {
  float gradient_scale = 1;         // clipping
  float decay = 1;                  // factor on decayed parameters: 1 - learning rate × weight decay
  float beta1 = 0, beta1_rest = 0;  // β and 1 - β
  float beta2 = 0, beta2_rest = 0;
  float step_size = 0;     // learning rate / (1 - β1^t)
  float second_scale = 0;  // 1 / sqrt(1 - β2^t)
  float epsilon = 0;
};

// Coefficients of the step of `round` (so t = round + 1).
AdamWStep adamw_step(const wire::OptimizerOptions& options, double learning_rate, RoundIndex round);

// Equally long stretches of parameters and moments.
template <typename Float>
struct AdamWVectors {
  Float* parameters = nullptr;
  Float* first_moment = nullptr;
  Float* second_moment = nullptr;
};

// m ← β1 m + (1-β1) g,  v ← β2 v + (1-β2) g²,  p ← p·decay - step_size · m / (sqrt(v)·second_scale + ε)
// with g the scaled gradient and decay 1 unless `decayed`. `to` and `from` must not overlap.
void adamw_update(const AdamWStep& step, bool decayed, std::span<const float> gradient,
                  const AdamWVectors<const float>& from, const AdamWVectors<float>& to);

}  // namespace starling::optim
