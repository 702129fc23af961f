// Local steps: a volunteer steps on its own gradients between two rounds, and what the swarm averages is how far that
// has taken it from the agreed parameters (the pseudo-gradient of DiLoCo, arXiv 2311.08105, algorithm 1; with plain SGD
// inside and an outer learning rate of 1, the parameter averaging of Local SGD, 1805.09767).
//
// Displacements are added up by samples, as gradients are: after k steps on N samples the increments sum up to
// N x (agreed - own). So the averaged vector is the mean displacement weighted by samples; hosts that compute faster
// take more steps; and a process that dies in the middle of a round leaves behind what it has told, with its weight.
// The one that replaces it begins at the agreed parameters, as another volunteer would. Memory: the parameters, the
// inner optimizer's moments, and the parameters once more. The moments stay here: nobody else has them, and they end
// with the process. Own parameters may be moved between steps, to be mixed with others' (client/session/mixing.h): that
// is part of the way from the agreed ones, as a step is. Single-threaded.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "client/optim/optimizer.h"
#include "client/optim/step_journal.h"
#include "shared/base/result.h"
#include "shared/wire/run_manifest.h"

namespace starling::optim {

class LocalSteps {
 public:
  // Of a manifest that has `local`. state: wire::local_state_size floats, which outlive this; moments begin at zero.
  LocalSteps(const wire::RunManifest& manifest, std::span<float> state);

  // Where gradients are to be computed. May be written between steps.
  [[nodiscard]] std::span<float> parameters() { return state_.first(told_.size()); }
  // A new sum begins, from these parameters.
  void begin(std::span<const float> agreed);
  // One step on `gradient`, which is summed over `samples` at parameters() and becomes the sum's increment. corrupt,
  // and nothing may be added, when it is not finite: then nothing has changed; or when the increment is not: then what
  // comes next begins at the agreed parameters.
  Status step(RoundIndex round, SampleCount samples, std::span<const float> agreed, std::span<float> gradient);

 private:
  Optimizer optimizer_;
  std::span<float> state_;   // [parameters | moments]
  std::vector<float> told_;  // parameters that the increments so far add up to
  std::unique_ptr<StepJournal> journal_;
  RoundIndex taken_ = 0;     // steps that the moments have seen
  SampleCount samples_ = 0;  // since begin()
};

}  // namespace starling::optim
