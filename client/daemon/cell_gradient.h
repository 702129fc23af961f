// The memory of a cell that is held here, and what becomes of the gradients that callers' samples bring, until the
// cell's next round: they are summed up (update = "round"), or stepped on as they arrive (update = "arrival"). Work
// thread only (cell_work.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "client/trainer_link/task_link.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/run/run_manifest.h"

namespace starling::daemon {

class CellGradient {
 public:
  virtual ~CellGradient() = default;

  // The state that all holders share, wire::state_size floats: its owner fills it in, and takes the rounds' steps.
  [[nodiscard]] virtual std::span<float> agreed() = 0;
  // The shared state is another one, and not by a step: what has been gathered is dropped.
  virtual void begin() = 0;
  // The shared state has taken the round's step.
  virtual void on_stepped() = 0;
  // The trainer has added the gradient of a batch of calls back, with this many units, to its memory. corrupt: steps on
  // it have led out of the finite numbers, and this holder is back at the agreed state.
  virtual Status add(RoundIndex round, std::int64_t units) = 0;
  // A batch of calls back has failed. The trainer may have added any part of its gradient, which goes, with all that
  // cannot be told from it.
  virtual void spoil() = 0;
  // Adds what has been gathered since the last time to `into`, which has as many floats as the cell, and returns the
  // samples that it is of. told: samples that callers have named meanwhile. 0: nothing was added. corrupt: something is
  // not finite, and all is dropped.
  virtual Result<SampleCount> take(SampleCount told, std::span<float> into) = 0;
};

// `cell`: the cell's manifest (wire::piece_of). memory: what the trainer computes with, which outlives this object.
std::unique_ptr<CellGradient> make_cell_gradient(const wire::RunManifest& cell, trainer_link::CellMemory memory);

}  // namespace starling::daemon
