// A volunteer's side of gossip between two rounds (client/session/gossip.h): the vector that it sends, made of its own
// parameters x, and the step that it takes on the mean of all sent vectors. With φ for the point that earlier gossip
// has led to, own steps from there, φ -> x, are a displacement, and φ itself takes steps, with momentum, on the
// partners' mean of the displacement and towards the partners' mean of φ:
//   m ← μ m + η mean(x - φ) + γ (mean(φ) - φ)        φ ← φ + m
// Both means are of one vector, γ φ + η (x - φ), so gossip moves no more bytes than the parameters. With η = γ = 1 and
// μ = 0 this is φ ← mean(x), the plain mean of parameters, and nothing is to be remembered.
//
// Steps go on while gossip is under way, and they are kept: x ← φ + (x - x as sent). φ and m stay here. φ begins
// at the agreed parameters with every round, as own steps do: the round's result is the mean of everybody's x. The
// momentum goes on through rounds: its mean over all volunteers is that of the one step that they would take together
// (the pull has no part in it), and it has been applied only in part when a round ends.
//
// Source: NoLoCo, Kolehmainen et al. 2025 (arXiv 2506.10911); its authors' code has η = γ = 0.7 and μ = 0.5 for pairs.
// Pure and single-threaded.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "shared/run/run_manifest.h"

namespace starling::optim {

// All vectors have the model's number of parameters.
class GossipStep {
 public:
  // Allocates memory for the parameters twice, unless gossip takes plain means.
  GossipStep(const wire::LocalOptions& options, std::size_t parameters);

  // To be called when own steps begin at the agreed parameters.
  void begin_round();
  // Forgets the momentum too, for a process that replaces the one that took the earlier steps.
  void forget();
  // agreed: the parameters at which own steps began.
  void send_out(std::span<const float> agreed, std::span<const float> own, std::span<float> sent) const;
  // mixed: the mean of all sent vectors, this volunteer's being `sent`; since then only `own` may have changed.
  void take_in(std::span<const float> sent, std::span<const float> mixed, std::span<float> own);
  // Consensus distance: distance of own parameters from the mean of all partners, relative to their length. Valid when
  // rate and pull are equal.
  [[nodiscard]] double distance(std::span<const float> sent, std::span<const float> mixed,
                                std::span<const float> own) const;

 private:
  float rate_;
  float momentum_kept_;
  float pull_;
  // Both empty if gossip takes plain means.
  std::vector<float> way_;  // φ minus the agreed parameters
  std::vector<float> momentum_;
};

}  // namespace starling::optim
