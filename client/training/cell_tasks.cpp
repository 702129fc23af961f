#include "client/training/cell_tasks.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "client/models/expert_cell.h"
#include "client/training/precision.h"
#include "client/training/tensor_views.h"

namespace starling::training {
namespace {

Error refused(wire::CellIndex cell, const std::string& why) {
  return {ErrorCode::invalid_argument, "compute for cell " + std::to_string(cell) + ": " + why};
}

models::Units units_of(const CellTasks::Units& units) { return {units.counts, units.rows}; }

}  // namespace

CellTasks::CellTasks(const wire::ModelOptions& model, bool bf16)
    : model_(model), bf16_(bf16), cells_(wire::cells_of(model)) {}

CellTasks::~CellTasks() = default;

Status CellTasks::hold(wire::CellIndex cell, std::span<float> parameters, std::span<float> gradient) {
  if (cell < 0 || static_cast<std::size_t>(cell) >= cells_.size()) return refused(cell, "the model has no such cell");
  const std::size_t count = cells_[static_cast<std::size_t>(cell)].count;
  if (parameters.size() != count || gradient.size() != count) return refused(cell, "its memory has another size");
  held_[cell] =
      std::make_unique<models::ExpertCell>(wire::cell_of(model_, cell), vector_view(parameters), vector_view(gradient));
  return {};
}

void CellTasks::let_go(wire::CellIndex cell) { held_.erase(cell); }

Status CellTasks::check(wire::CellIndex cell, const Units& units, std::size_t floats) const {
  if (!held_.contains(cell)) {
    return Error{ErrorCode::not_found, "compute for cell " + std::to_string(cell) + ": it is not held here"};
  }
  const auto width = static_cast<std::size_t>(model_.width);
  const auto rows = units.inputs.size() / width;
  const bool counted =
      std::all_of(units.counts.begin(), units.counts.end(), [](std::int32_t count) { return count >= 0; }) &&
      std::accumulate(units.counts.begin(), units.counts.end(), std::int64_t{0}) ==
          static_cast<std::int64_t>(units.rows.size());
  const bool placed = std::all_of(units.rows.begin(), units.rows.end(), [rows](std::int32_t row) {
    return row >= 0 && static_cast<std::size_t>(row) < rows;
  });
  if (static_cast<int>(units.counts.size()) != cells_[static_cast<std::size_t>(cell)].experts || !counted || !placed ||
      units.inputs.size() != rows * width || floats != units.rows.size() * width) {
    return refused(cell, "these are not whole units of its experts");
  }
  return {};
}

Status CellTasks::forward(wire::CellIndex cell, const Units& units, std::span<float> results) const {
  STARLING_TRY(check(cell, units, results.size()));
  if (results.empty()) return {};
  const Precision precision(bf16_, at::kCPU);
  copy_to(held_.at(cell)->forward(rows_view(units.inputs, model_.width), units_of(units)), results);
  return {};
}

Status CellTasks::backward(wire::CellIndex cell, const Units& units, std::span<const float> upstream,
                           std::span<float> inputs_gradient) const {
  STARLING_TRY(check(cell, units, upstream.size()));
  if (inputs_gradient.size() != units.inputs.size()) return refused(cell, "there is other room than for its gradient");
  const at::Tensor inputs = rows_view(units.inputs, model_.width), given = rows_view(upstream, model_.width);
  if (!inputs.isfinite().all().item<bool>() || !given.isfinite().all().item<bool>()) {
    return Error{ErrorCode::corrupt, "compute for cell " + std::to_string(cell) + ": a value is not finite"};
  }
  if (upstream.empty()) {
    std::fill(inputs_gradient.begin(), inputs_gradient.end(), 0.0F);
    return {};
  }
  const Precision precision(bf16_, at::kCPU);
  copy_to(held_.at(cell)->backward(inputs, units_of(units), given), inputs_gradient);
  return {};
}

}  // namespace starling::training
