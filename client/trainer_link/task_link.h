// The daemon's end of tasks (tasks.h): has a trainer child compute segments of the trunk, and for others with the cells
// that this computer holds. The cells' memory and the tray belong to this object and outlive every child; a new child
// is given them before its first task. A window's micro-batches die with their child: the window is void then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "client/trainer_link/child_link.h"
#include "client/trainer_link/shared_floats.h"
#include "client/trainer_link/tasks.h"
#include "shared/run/cells.h"
#include "shared/run/run_manifest.h"

namespace starling::trainer_link {

// The memory of a cell. The trainer adds to the gradient, and changes nothing else; the state's owner steps it.
struct CellMemory {
  // [parameters | moments]; where the cell steps on arrival, the holder's own ones (wire::local_state_size).
  std::span<float> state;
  std::span<float> gradient;
};

// One thread calls, the one that calls `link`.
class TaskLink {
 public:
  // All outlive this. `trunk`: the manifest of the trunk. shard_for as in TrainerProcessOptions.
  TaskLink(ChildLink& link, const wire::RunManifest& trunk,
           const std::function<Result<UniqueFd>(const wire::SampleRange& samples)>& shard_for);

  // Makes the tray of this many floats, in place of the one before. resource_exhausted when there is no memory.
  Status make_tray(std::size_t floats);
  // All values of tasks lie here.
  [[nodiscard]] std::span<float> tray() const { return tray_.all(); }

  // Reserves memory for the cell, all zero; that of a cell which is held already stays as it is.
  Result<CellMemory> hold(wire::CellIndex cell);
  void let_go(wire::CellIndex cell);

  // The next task of the trunk begins a window: its gradient begins at 0, and no earlier micro-batch is under way.
  void begin_window() { begins_window_ = true; }
  // Returns the loss, summed over samples, at a micro-batch's turn; 0 otherwise. After a failure the window is void.
  Result<double> run(const routing::TrunkTask& task);
  // After a failure the cell's gradient may have a part of the task's in it, if the child has died.
  Status run(const CellTask& task);

 private:
  // Starts a child if there is none, and gives it what it has not.
  Status prepare();

  ChildLink& link_;
  const wire::RunManifest& trunk_;
  const std::function<Result<UniqueFd>(const wire::SampleRange& samples)>& shard_for_;
  std::vector<wire::Cell> cells_;
  SharedFloats tray_;
  std::map<wire::CellIndex, SharedFloats> held_;
  bool begins_window_ = true;
  std::int64_t window_child_ = 0;  // number of starts of the child that has the window's micro-batches
  std::int64_t given_child_ = 0;   // likewise, of the one that has the tray and these cells
  bool tray_given_ = false;
  std::set<wire::CellIndex> cells_given_;
};

}  // namespace starling::trainer_link
