// Tasks of a trunk and of cells (shared/run/cells.h) over the link. Their values lie in the tray, floats that both ends
// share; a message says where. The daemon's end is TaskLink (task_link.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "client/routing/trunk_task.h"
#include "shared/base/result.h"
#include "shared/run/model_options.h"

namespace starling::trainer_link {

// A pass of a cell over units: tokens, each at one of its experts. All spans lie in the tray.
struct CellTask {
  wire::CellIndex cell = 0;
  bool is_back = false;
  std::span<const std::int32_t> counts{};  // units by expert of the cell
  std::span<const std::int32_t> rows{};    // by unit, in the order of experts: a row of the inputs
  std::span<const float> inputs{};         // [rows, width]
  std::span<const float> upstream{};       // on the way back, the gradient of the results: [units, width]
  // Written: results [units, width]; on the way back the gradient of the inputs, [rows, width].
  std::span<float> answer{};
};

// The child's end: computes them. One thread calls.
class TaskRunner {
 public:
  virtual ~TaskRunner() = default;
  // Tasks of this cell compute with these parameters from now on, and add to this gradient. Both outlive the holding.
  virtual Status hold(wire::CellIndex cell, std::span<float> parameters, std::span<float> gradient) = 0;
  virtual void let_go(wire::CellIndex cell) = 0;
  // Clears the trunk's gradient, and ends micro-batches under way.
  virtual void begin_window() = 0;
  // Returns the micro-batch's loss, summed over samples, at its turn, and 0 otherwise. After a failure the window is
  // void: the next one has to begin.
  virtual Result<double> run(const routing::TrunkTask& task) = 0;
  // After a failure the cell's gradient is as before.
  virtual Status run(const CellTask& task) = 0;
};

// Tasks as messages carry them, with places in this tray. All spans that are not empty lie in it.
std::string pack(const routing::TrunkTask& task, std::span<const float> tray);
std::string pack(const CellTask& task, std::span<const float> tray);
// corrupt for bytes that are no task, or name places outside of the tray. The samples of a trunk's task travel beside.
Result<routing::TrunkTask> unpack_trunk_task(std::string_view packed, std::span<float> tray);
Result<CellTask> unpack_cell_task(std::string_view packed, std::span<float> tray);

}  // namespace starling::trainer_link
