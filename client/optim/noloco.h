// The common step of local training without any collective: after its own steps a peer meets one other, or a few, drawn
// anew every time, and each steps on their mean displacement Δ, with momentum, and a part of the way towards the mean
// of what they had agreed on before, φ, which keeps everybody together:
//   m ← μ m - η mean(Δ) + γ (mean(φ) - φ)        φ ← φ + m
// Source: NoLoCo, Kolehmainen et al. 2025 (arXiv 2506.10911); the defaults are those of its authors' code, for pairs.
// Pure.
#pragma once

#include <span>

namespace starling::optim {

struct NoLoCoOptions {
  float rate = 0.7F;      // η
  float momentum = 0.5F;  // μ
  float pull = 0.7F;      // γ
};

// mean_displacement: of the group's φ - x, x being where own steps have led; mean_agreed: of the group's φ. agreed (φ)
// and momentum (m, zero before the first step) become the new ones. All are equally long.
void noloco_step(const NoLoCoOptions& options, std::span<const float> mean_displacement,
                 std::span<const float> mean_agreed, std::span<float> agreed, std::span<float> momentum);

}  // namespace starling::optim
