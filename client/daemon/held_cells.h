// The cells that this computer holds: their memory, the gradients that they gather, and what the trainer computes with
// them. Work thread only (cell_work.h).
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "client/daemon/cell_gradient.h"
#include "client/trainer_link/task_link.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/run/run_manifest.h"

namespace starling::daemon {

class HeldCells {
 public:
  // Both outlive this. `trunk`: the run's manifest, with its trunk as the model.
  HeldCells(const wire::RunManifest& trunk, trainer_link::TaskLink& tasks) : trunk_(trunk), tasks_(tasks) {}

  // Memory for the state that the cell's holders share, which the caller fills in.
  Result<std::span<float>> hold(wire::CellIndex cell);
  // Returns whether the cell was held.
  bool let_go(wire::CellIndex cell);

  // The cell is held, all of these.
  // Its state is that of this round, and the one after the step unless stop() came before: then gathering begins.
  void serve(wire::CellIndex cell, RoundIndex round);
  void stop(wire::CellIndex cell) { held_.at(cell).is_served = false; }
  // The shared state has taken a round's step.
  void on_stepped(wire::CellIndex cell) { held_.at(cell).gradient->on_stepped(); }
  // See CellGradient::take.
  Result<SampleCount> take_gradient(wire::CellIndex cell, SampleCount told, std::span<float> into) {
    return held_.at(cell).gradient->take(told, into);
  }

  // Has the trainer compute a batch of calls. not_found: the cell is not held. After a failure on the way back the
  // batch's gradient does not count, nor what was gathered with it (CellGradient::spoil).
  Status compute(const trainer_link::CellTask& task);
  // The round of the state with which the cell is computed; 0 if it is not held.
  [[nodiscard]] RoundIndex round_of(wire::CellIndex cell) const;

 private:
  struct HeldCell {
    std::unique_ptr<CellGradient> gradient;
    RoundIndex round = 0;
    bool is_served = false;
  };

  const wire::RunManifest& trunk_;
  trainer_link::TaskLink& tasks_;
  std::map<wire::CellIndex, HeldCell> held_;
};

}  // namespace starling::daemon
