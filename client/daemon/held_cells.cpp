#include "client/daemon/held_cells.h"

#include <utility>

#include "shared/base/finite.h"
#include "shared/run/cells.h"

namespace starling::daemon {

Result<std::span<float>> HeldCells::hold(wire::CellIndex cell) {
  STARLING_ASSIGN(const trainer_link::CellMemory memory, tasks_.hold(cell));
  HeldCell& held = held_[cell];
  held.gradient = make_cell_gradient(wire::piece_of(trunk_, cell), memory);
  return held.gradient->agreed();
}

bool HeldCells::let_go(wire::CellIndex cell) {
  if (held_.erase(cell) == 0) return false;
  tasks_.let_go(cell);
  return true;
}

void HeldCells::serve(wire::CellIndex cell, RoundIndex round) {
  HeldCell& held = held_.at(cell);
  held.round = round;
  if (!std::exchange(held.is_served, true)) held.gradient->begin();
}

Status HeldCells::compute(const trainer_link::CellTask& task) {
  const auto found = held_.find(task.cell);
  if (found == held_.end()) return Error{ErrorCode::not_found, "compute for others: the cell is not held any more"};
  HeldCell& held = found->second;
  Status status = tasks_.run(task);
  if (status.ok() && !all_finite(task.answer)) {
    status = Error{ErrorCode::corrupt, "compute for others: a value is not finite"};
  }
  if (!task.is_back) return status;
  if (!status.ok()) {
    held.gradient->spoil();
    return status;
  }
  return held.gradient->add(held.round, std::ssize(task.rows));
}

RoundIndex HeldCells::round_of(wire::CellIndex cell) const {
  const auto held = held_.find(cell);
  return held != held_.end() ? held->second.round : 0;
}

}  // namespace starling::daemon
