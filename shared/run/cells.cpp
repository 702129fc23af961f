#include "shared/run/cells.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "shared/base/verify.h"
#include "shared/run/manifest_fields.h"

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

std::size_t cell_count(const ModelOptions& model) {
  const auto in_layer = static_cast<std::size_t>((experts_in_layer(model) - 1) / model.experts.cells.experts + 1);
  return in_layer * layers_with_experts(model).size();
}

}  // namespace

void step_on_arrival(RunManifest& cell) {
  cell.local = LocalOptions{cell.optimizer, cell.schedule};
  cell.optimizer = default_optimizer(OptimizerKind::sgd);
  cell.optimizer.momentum = 0;
  cell.optimizer.weight_decay = 0;
  cell.optimizer.clip_norm = 0;
  cell.schedule = ScheduleOptions{.kind = ScheduleKind::constant, .learning_rate = 1, .warmup_rounds = 0};
  cell.moments = MomentForm::fp32;
}

std::vector<int> layers_with_experts(const ModelOptions& model) {
  std::vector<int> layers;
  for (int layer = 0; layer < model.layers; ++layer) {
    if (has_experts(model, layer)) layers.push_back(layer);
  }
  return layers;
}

bool has_cells(const ModelOptions& model) {
  return model.architecture == Architecture::decoder && model.experts.rows > 0 && model.experts.cells.experts > 0;
}

bool computes_tasks(const ModelOptions& piece) {
  return piece.experts.piece == kTrunk || piece.experts.piece == kNoPiece;
}

std::vector<Cell> cells_of(const ModelOptions& model) {
  VERIFY(has_cells(model));
  std::vector<Cell> cells;
  std::size_t offset = trunk_count(model);
  for (const int layer : layers_with_experts(model)) {
    for (int first = 0; first < experts_in_layer(model); first += model.experts.cells.experts) {
      const int experts = std::min(model.experts.cells.experts, experts_in_layer(model) - first);
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

RunId cell_run_id(const RunId& run, CellIndex cell) { return fmt::format("{}.c{}", run, cell); }

RunManifest piece_of(RunManifest run, ModelPiece piece) {
  VERIFY(has_cells(run.model) && piece != kWholeModel);
  run.model.experts.piece = piece;
  if (piece == kNoPiece) return run;
  run.flops_per_sample = flops_per_sample(run.model);
  if (piece == kTrunk) return run;
  run.run_id = cell_run_id(run.run_id, piece);
  const std::vector<Digest>& digests = run.model.experts.cells.digests;
  const auto number = static_cast<std::size_t>(piece);
  run.initial_state_digest = number < digests.size() ? digests[number] : Digest();
  run.data.sampling = Sampling::independent;
  run.rounds_max = 0;
  if (run.model.experts.cells.update == CellUpdate::arrival) step_on_arrival(run);
  return run;
}

double units_of_sample(const ModelOptions& cell) {
  VERIFY(has_cells(cell) && cell.experts.piece >= 0);
  const int experts = cells_of(cell).at(static_cast<std::size_t>(cell.experts.piece)).experts;
  return static_cast<double>(cell.context) * cell.experts.active * experts / experts_in_layer(cell);
}

std::int64_t held_bytes(const RunManifest& run, CellIndex cell) {
  const RunManifest piece = piece_of(run, cell);
  const MemoryNeeds needs = memory_needs(piece);
  return static_cast<std::int64_t>(needs.state + needs.gradients);
}

std::vector<ParameterInfo> layout_of_piece(const ModelOptions& model, std::vector<ParameterInfo> whole) {
  if (model.experts.piece == kNoPiece) return {};
  const bool is_trunk = model.experts.piece == kTrunk;
  const std::vector<Cell> cells = cells_of(model);
  const std::size_t begin = is_trunk ? 0 : cells.at(static_cast<std::size_t>(model.experts.piece)).offset;
  const std::size_t end =
      is_trunk ? cells.front().offset : begin + cells[static_cast<std::size_t>(model.experts.piece)].count;
  std::erase_if(whole, [&](const ParameterInfo& info) { return info.offset < begin || info.offset >= end; });
  for (ParameterInfo& info : whole) info.offset -= begin;
  return whole;
}

void check_cells(Checker& check, const RunManifest& manifest) {
  const CellOptions& cells = manifest.model.experts.cells;
  if (cells == CellOptions()) return;
  RangeChecks ranges(check, "cells.");
  each_field(ranges, cells);
  const bool has_experts = manifest.model.architecture == Architecture::decoder && manifest.model.experts.rows > 0;
  check.word("cells.kind", word_of(cells.kind), has_experts,
             "left out, and algorithm not 'dmoe', where the model is not a decoder with experts");
  if (!check.status().ok()) return;
  check.that(cell_count(manifest.model) <= static_cast<std::size_t>(kCellsMax), "cells.experts_per_cell",
             fmt::format("{}", cells.experts), fmt::format("more: a model has at most {} cells", kCellsMax));
  check.within("cells.answers_min", cells.answers_min, 0, manifest.model.experts.active);
  check.word("cells.codec", to_string(cells.codec), carries_results(cells.codec) && cells.codec != Codec::int4,
             "'fp32', 'fp16', 'bf16' or 'int8': nothing makes up for what the others leave out of activations");
  check.that(manifest.run_id.size() + kCellRunIdBytes <= kRunIdBytesMax, "run_id", fmt::format("'{}'", manifest.run_id),
             fmt::format("at most {} characters where there are cells", kRunIdBytesMax - kCellRunIdBytes));
  const bool names_states = cells.digests.empty() || cells.digests.size() == cell_count(manifest.model);
  check.that(names_states, "cells.digests", fmt::format("of {} cells", cells.digests.size()),
             fmt::format("one for each of the {} cells", cell_count(manifest.model)));
  const auto without = [&](std::string_view field, bool rests, std::string_view found, std::string_view allowed) {
    check.that(rests, std::string(field), std::string(found), fmt::format("{} where there are cells", allowed));
  };
  const RoundOptions& round = manifest.round;
  without("local", !manifest.local, "a table", "none: pieces do not step by themselves between rounds,");
  without("low_rank", round.low_rank == 0, "above 0", "0: pieces are averaged in one leg,");
  without("error_feedback", round.error_feedback == 0, "above 0", "0: a cell's holders change,");
  without("delay_parameter_updates", !round.delay_parameter_updates, "true",
          "false: calls are answered at the agreed parameters,");
  without("averaging.formation", round.averaging.formation != Formation::grid, "'grid'", "'auto' or 'one-group'");
  without("averaging.aggregation", round.averaging.aggregation != Aggregation::centered_clip, "'centered-clip'",
          "'clipped' or 'mean'");
}

}  // namespace starling::wire
