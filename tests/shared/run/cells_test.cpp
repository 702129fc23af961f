#include "shared/run/cells.h"

#include <doctest/doctest.h>

using namespace starling;
using namespace starling::wire;

namespace {

ModelOptions two_layers_of(int rows, int columns, int per_cell) {
  ModelOptions model{.architecture = Architecture::decoder, .layers = 4, .width = 16, .heads = 2, .vocabulary = 40};
  model.mlp_width = 24;
  model.experts.rows = rows;
  model.experts.columns = columns;
  model.experts.every = 2;
  model.experts.cells.experts = per_cell;
  return model;
}

}  // namespace

TEST_CASE("the trunk and its cells are the flat vector, one behind the other") {
  for (const int experts_per_cell : {1, 2, 3, 4, 6, 100}) {
    const ModelOptions model = two_layers_of(2, 3, experts_per_cell);
    const std::vector<Cell> cells = cells_of(model);
    std::size_t next = parameter_count(trunk_of(model));
    std::vector<int> experts_of(static_cast<std::size_t>(model.layers), 0);
    for (const Cell& cell : cells) {
      CHECK(cell.offset == next);
      CHECK(cell.experts <= experts_per_cell);
      CHECK(has_experts(model, cell.layer));
      CHECK(cell.first_expert == experts_of[static_cast<std::size_t>(cell.layer)]);
      experts_of[static_cast<std::size_t>(cell.layer)] += cell.experts;
      next += cell.count;
    }
    CHECK(next == parameter_count(model));
    CHECK(experts_of == std::vector<int>{0, 6, 0, 6});
  }
}

TEST_CASE("a cell has its experts' tensors and no others") {
  const ModelOptions model = two_layers_of(4, 1, 3);
  const std::vector<Cell> cells = cells_of(model);
  REQUIRE(cells.size() == 4);  // three experts and one, in two layers
  const std::vector<ParameterInfo> layout = model_layout(cell_of(model, 3));
  REQUIRE(layout.size() == 2);
  CHECK(layout[0].name == "block3.expert3.mlp_in.weight");
  CHECK(layout[0].offset == 0);
  CHECK(layout[0].drawn_at == cells[3].offset);
  CHECK(layout[1].name == "block3.expert3.mlp_out.weight");
  CHECK(parameter_count(cell_of(model, 3)) == cells[3].count);
  for (const ParameterInfo& info : model_layout(trunk_of(model))) {
    CHECK(info.name.find("expert") == std::string::npos);
    CHECK(info.drawn_at == info.offset);
  }
}

TEST_CASE(
    "a sample costs its trunk and its cells what it costs the whole model, and one more pass forward of experts") {
  const ModelOptions model = two_layers_of(2, 3, 4);
  double cells = 0;
  for (CellIndex cell = 0; cell < 4; ++cell) cells += flops_per_sample(cell_of(model, cell));
  CHECK(flops_per_sample(trunk_of(model)) + cells * 3 / 4 == doctest::Approx(flops_per_sample(model)));
}

TEST_CASE("only a model with experts has cells") {
  CHECK(has_cells(two_layers_of(2, 3, 4)));
  CHECK_FALSE(has_cells(two_layers_of(2, 3, 0)));
  CHECK_FALSE(has_cells(two_layers_of(0, 1, 4)));
  ModelOptions gpt = two_layers_of(2, 3, 4);
  gpt.architecture = Architecture::gpt;
  CHECK_FALSE(has_cells(gpt));
}

TEST_CASE("a piece is a run of its own: with its model, its state and its costs") {
  RunManifest manifest;
  manifest.run_id = "fox";
  manifest.model = two_layers_of(2, 2, 2);
  manifest.flops_per_sample = flops_per_sample(manifest.model);
  manifest.initial_state_digest.bytes.fill(1);
  manifest.model.experts.cells.digests.resize(4);
  manifest.model.experts.cells.digests[3].bytes.fill(3);
  const RunManifest trunk = piece_of(manifest, kTrunk), cell = piece_of(manifest, 3);
  CHECK(trunk.run_id == "fox");
  CHECK(trunk.initial_state_digest == manifest.initial_state_digest);
  CHECK(trunk.flops_per_sample < manifest.flops_per_sample);
  CHECK(cell.run_id == "fox.c3");
  CHECK(cell.initial_state_digest == manifest.model.experts.cells.digests[3]);
  CHECK(cell.flops_per_sample == flops_per_sample(cell.model));
  CHECK(parameter_count(cell.model) == cells_of(manifest.model)[3].count);
  CHECK(held_bytes(manifest, 3) > static_cast<std::int64_t>(state_size(cell) * sizeof(float)));
  CHECK_FALSE(cell.local);
}

TEST_CASE("without a piece there is nothing to train, and memory is taken by programs and others' calls alone") {
  RunManifest manifest;
  manifest.run_id = "fox";
  manifest.model = two_layers_of(2, 2, 2);
  manifest.flops_per_sample = flops_per_sample(manifest.model);
  const RunManifest none = piece_of(piece_of(manifest, kTrunk), kNoPiece);
  CHECK(none.run_id == "fox");
  CHECK(parameter_count(none.model) == 0);
  CHECK(state_size(none) == 0);
  CHECK(check_manifest(none).error().message == check_manifest(manifest).error().message);
  const MemoryNeeds needs = memory_needs(none), of_cell = memory_needs(piece_of(manifest, 0));
  CHECK(needs.total() == needs.programs + needs.activations);
  CHECK(needs.activations == of_cell.activations);
  CHECK((computes_tasks(none.model) && computes_tasks(trunk_of(manifest.model))));
  CHECK_FALSE(computes_tasks(manifest.model));
  CHECK(cells_of(none.model) == cells_of(manifest.model));
  CHECK(piece_of(none, 1).flops_per_sample == piece_of(manifest, 1).flops_per_sample);
}

TEST_CASE("where cells step on arrival, each holder has the optimizer, and a round leads to the mean") {
  RunManifest manifest;
  manifest.model = two_layers_of(2, 2, 2);
  manifest.model.experts.cells.update = CellUpdate::arrival;
  manifest.schedule.learning_rate = 0.02;
  const RunManifest trunk = piece_of(manifest, kTrunk), cell = piece_of(manifest, 1);
  CHECK_FALSE(trunk.local);
  REQUIRE(cell.local);
  CHECK(cell.local->optimizer.kind == manifest.optimizer.kind);
  CHECK(cell.local->schedule.learning_rate == 0.02);
  CHECK(cell.optimizer.kind == OptimizerKind::sgd);
  CHECK(cell.schedule.learning_rate == 1);
  CHECK(state_size(cell) == parameter_count(cell.model));
  CHECK(computed_state_size(cell) == local_state_size(cell));
  CHECK(computed_state_size(trunk) == state_size(trunk));
  // Two experts of four: half of a token's choices.
  CHECK(units_of_sample(cell.model) == manifest.model.context * manifest.model.experts.active / 2.0);
}
