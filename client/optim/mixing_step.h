// A volunteer's side of a mixing between two rounds (client/session/mixing.h): what it sends out of its own parameters
// x, and where the mean of what all in the mixing have sent takes them. With φ for where the mixings before have led,
// own steps from there, φ -> x, are a displacement, and φ itself takes steps, with momentum, on the partners' mean of
// it and towards the partners' mean of φ:
//   m ← μ m + η mean(x - φ) + γ (mean(φ) - φ)        φ ← φ + m
// Both means are of one vector, γ φ + η (x - φ), so a mixing moves no more than the parameters. With η = γ = 1 and
// μ = 0 this is φ ← mean(x), the plain mean of parameters, and nothing is to be remembered.
//
// Steps go on while a mixing is under way: they are kept, x ← φ + (x - x as sent). What is remembered stays at home. φ
// begins at the agreed parameters with every round, as own steps do: the round's result is the mean of everybody's x.
// The momentum goes on through rounds: its mean over all is that of the one step that they would take together (the
// pull has no part in it), and it has been paid only in part when a round ends.
//
// Source: NoLoCo, Kolehmainen et al. 2025 (arXiv 2506.10911); its authors' code has η = γ = 0.7 and μ = 0.5 for pairs.
// Pure and single-threaded.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "shared/wire/run_manifest.h"

namespace starling::optim {

// Vectors have as many floats as the model has parameters.
class MixingStep {
 public:
  // Takes memory for the parameters twice, unless mixings are plain means.
  MixingStep(const wire::LocalOptions& options, std::size_t parameters);

  // Own steps begin at the agreed parameters.
  void begin_round();
  // They have no past: whoever took those before is gone.
  void forget();
  // agreed: where own steps began.
  void send_out(std::span<const float> agreed, std::span<const float> own, std::span<float> sent) const;
  // mixed: the mean of what has been sent, `sent` by this volunteer, since when it has changed nothing but `own`.
  void take_in(std::span<const float> sent, std::span<const float> mixed, std::span<float> own);
  // How far own parameters were from the mean of all in the mixing, as a share of their length. Of mixings with equal
  // rate and pull.
  [[nodiscard]] double distance(std::span<const float> sent, std::span<const float> mixed,
                                std::span<const float> own) const;

 private:
  float rate_;
  float momentum_kept_;
  float pull_;
  // Both empty where mixings are plain means.
  std::vector<float> way_;  // from the agreed parameters to φ
  std::vector<float> momentum_;
};

}  // namespace starling::optim
