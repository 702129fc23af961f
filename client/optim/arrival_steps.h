// Steps of a cell as gradients arrive (update = "arrival"): a holder steps on each batch of calls on their way back, at
// once, as experts of Learning@home do (arXiv 2002.04013, section 3.3), and does not wait for the other holders. Rounds
// average the holders' displacements from the agreed parameters, as with LocalSteps, weighted by samples.
//
// LocalSteps tells the increment of every step. Here steps are many and small, and go on while a round is averaged: the
// displacement is taken when a round asks for it, and what was stepped after that belongs to the next round:
//
//   own    <- own + (agreed - taken)     taken: own parameters when the displacement was taken last
//
// The inner optimizer's moments stay with the holder, and end with it. Single-threaded.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "client/optim/optimizer.h"
#include "client/optim/step_journal.h"
#include "shared/base/result.h"
#include "shared/run/run_manifest.h"

namespace starling::optim {

class ArrivalSteps {
 public:
  // `cell`: the manifest of a piece that steps on arrival (wire::piece_of). agreed: the parameters that all holders
  // share, which others may change between calls. own: wire::local_state_size floats, [parameters | moments], at whose
  // parameters gradients are computed. Both spans outlive this object; begin() comes before all others.
  ArrivalSteps(const wire::RunManifest& cell, std::span<const float> agreed, std::span<float> own);

  // Own parameters become the agreed ones, and what was stepped since then is dropped. Moments stay.
  void begin();
  // Takes one step on `gradient`, which is the sum over about this many samples (above 0), and is overwritten. corrupt:
  // for a gradient that is not finite nothing changes; where parameters leave the finite numbers, begin() has been
  // called, and moments begin at 0 again.
  Status step(RoundIndex round, double samples, std::span<float> gradient);
  // Adds the growth of (samples x displacement from the agreed parameters) since the last time in this round to `into`,
  // and returns by how many samples it has grown; 0: by none that is whole, and nothing was added.
  SampleCount take(std::span<float> into);
  // The round's step is done: the agreed parameters have moved by what was taken, and by the other holders'.
  void go_on();

 private:
  [[nodiscard]] std::span<float> parameters() const { return own_.first(agreed_.size()); }

  Optimizer optimizer_;
  std::span<const float> agreed_;
  std::span<float> own_;
  std::vector<float> taken_;  // own parameters at the last take() of the round; before it, the agreed ones
  SampleCount taken_samples_ = 0;
  double samples_ = 0;    // since the agreed parameters
  RoundIndex steps_ = 0;  // that went into the moments
  std::unique_ptr<StepJournal> journal_;
};

}  // namespace starling::optim
