// The cells that this computer holds, whose experts compute for others' tokens. A task is a pass forth or back of one
// cell over some units: tokens, each at one of its experts.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "shared/base/result.h"
#include "shared/run/cells.h"

namespace starling::models {
class ExpertCell;
}  // namespace starling::models

namespace starling::training {

class CellTasks {
 public:
  // `model`: of the run, or any piece of it. bf16 as for Precision.
  CellTasks(const wire::ModelOptions& model, bool bf16);
  ~CellTasks();

  // From now on tasks of this cell compute with these parameters, as many as the cell has, and add to this gradient.
  // Both outlive the holding. invalid_argument for a cell that the model has not, or for other sizes.
  Status hold(wire::CellIndex cell, std::span<float> parameters, std::span<float> gradient);
  void let_go(wire::CellIndex cell);

  struct Units {
    std::span<const std::int32_t> counts;  // by expert of the cell
    std::span<const std::int32_t> rows;    // by unit, in the order of experts: a row of the inputs
    std::span<const float> inputs;         // [rows, width]
  };
  // results: [units, width], written. Here and below: not_found for a cell that is not held, invalid_argument for units
  // that do not fit it.
  Status forward(wire::CellIndex cell, const Units& units, std::span<float> results) const;
  // Adds to the cell's gradient. upstream: the gradient of the results; inputs_gradient [rows, width], written. corrupt
  // for one that is not finite, with the cell's gradient untouched.
  Status backward(wire::CellIndex cell, const Units& units, std::span<const float> upstream,
                  std::span<float> inputs_gradient) const;

 private:
  [[nodiscard]] Status check(wire::CellIndex cell, const Units& units, std::size_t floats) const;

  wire::ModelOptions model_;
  bool bf16_;
  std::vector<wire::Cell> cells_;
  std::map<wire::CellIndex, std::unique_ptr<models::ExpertCell>> held_;
};

}  // namespace starling::training
