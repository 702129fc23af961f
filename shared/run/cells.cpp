#include "shared/run/cells.h"

#include <algorithm>
#include <utility>

#include "shared/base/verify.h"

namespace starling::wire {
namespace {

std::size_t expert_count(const ModelOptions& model) {
  return std::size_t{3} * static_cast<std::size_t>(model.width) * static_cast<std::size_t>(model.mlp_width);
}

std::size_t trunk_count(const ModelOptions& model) {
  const std::size_t experts = layers_with_experts(model).size() * static_cast<std::size_t>(experts_in_layer(model));
  ModelOptions whole = model;
  whole.experts.piece = kWholeModel;
  return parameter_count(whole) - experts * expert_count(model);
}

}  // namespace

std::vector<int> layers_with_experts(const ModelOptions& model) {
  std::vector<int> layers;
  for (int layer = 0; layer < model.layers; ++layer) {
    if (has_experts(model, layer)) layers.push_back(layer);
  }
  return layers;
}

bool has_cells(const ModelOptions& model) {
  return model.architecture == Architecture::decoder && model.experts.rows > 0 && model.experts.per_cell > 0;
}

std::vector<Cell> cells_of(const ModelOptions& model) {
  VERIFY(has_cells(model));
  std::vector<Cell> cells;
  std::size_t offset = trunk_count(model);
  for (const int layer : layers_with_experts(model)) {
    for (int first = 0; first < experts_in_layer(model); first += model.experts.per_cell) {
      const int experts = std::min(model.experts.per_cell, experts_in_layer(model) - first);
      const std::size_t count = static_cast<std::size_t>(experts) * expert_count(model);
      cells.push_back({layer, first, experts, offset, count});
      offset += count;
    }
  }
  return cells;
}

ModelOptions trunk_of(ModelOptions model) {
  VERIFY(has_cells(model));
  model.experts.piece = kTrunk;
  return model;
}

ModelOptions cell_of(ModelOptions model, CellIndex cell) {
  VERIFY(has_cells(model) && cell >= 0);
  model.experts.piece = cell;
  return model;
}

std::vector<ParameterInfo> layout_of_piece(const ModelOptions& model, std::vector<ParameterInfo> whole) {
  const bool is_trunk = model.experts.piece == kTrunk;
  const std::vector<Cell> cells = cells_of(model);
  const std::size_t begin = is_trunk ? 0 : cells.at(static_cast<std::size_t>(model.experts.piece)).offset;
  const std::size_t end =
      is_trunk ? cells.front().offset : begin + cells[static_cast<std::size_t>(model.experts.piece)].count;
  std::erase_if(whole, [&](const ParameterInfo& info) { return info.offset < begin || info.offset >= end; });
  for (ParameterInfo& info : whole) info.offset -= begin;
  return whole;
}

}  // namespace starling::wire
