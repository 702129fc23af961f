// Cells: the pieces into which a model with experts is cut, so that no volunteer has to hold all of it. A cell is some
// experts of one layer, a stretch of the model's flat vector that a few volunteers hold. The rest, before the first
// cell, is the trunk: embeddings, attention, gates, norms and the output layer.
//
// A piece has the options of its model and names itself in them (ExpertOptions::piece). So its layout, its initial
// values, and what it costs, follow like those of a whole model, and it is trained like one: a cell is a run beside
// that of the trunk, whose members are the cell's holders. A volunteer without memory for the trunk is in its run all
// the same, with no piece: it holds cells, answers calls, and makes none.
#pragma once

#include <cstddef>
#include <vector>

#include "shared/run/model_layout.h"
#include "shared/run/run_manifest.h"

namespace starling::wire {

struct Cell {
  int layer = 0;         // the block's number
  int first_expert = 0;  // in its layer
  int experts = 0;
  std::size_t offset = 0;  // its first parameter's place in the model's flat vector
  std::size_t count = 0;   // parameters
  friend bool operator==(const Cell&, const Cell&) = default;
};

// The numbers of a decoder's layers that have experts.
std::vector<int> layers_with_experts(const ModelOptions& model);
// True if the model is cut into cells.
bool has_cells(const ModelOptions& model);
// The cells of a model that has some, one behind the other; the last one of a layer may have fewer experts.
std::vector<Cell> cells_of(const ModelOptions& model);

// True of a volunteer's piece if its trainer computes tasks for itself and for others, and no whole batches: the trunk,
// or none.
bool computes_tasks(const ModelOptions& piece);

// The pieces of such a model.
ModelOptions trunk_of(ModelOptions model);
ModelOptions cell_of(ModelOptions model, CellIndex cell);

// A cell's id as a run of its own; no operator's run is called so.
RunId cell_run_id(const RunId& run, CellIndex cell);
// The trunk, a cell or no piece of a run as a run of its own, with the piece's model, costs and first state. A cell has
// an id of its own, and nobody draws samples for it: its holders gather the gradients of those that callers bring.
// Where it steps on arrival, the run's optimizer steps at each holder (LocalOptions), and the holders' parameters are
// averaged.
RunManifest piece_of(RunManifest run, ModelPiece piece);
// Gives a run the rounds of a cell that steps on arrival: the optimizer becomes each volunteer's own, and a round's
// step leads to the mean of their parameters.
void step_on_arrival(RunManifest& cell);

// Units (a token at one expert) that a sample brings to a cell, a piece of its model, if all experts have the same
// load.
double units_of_sample(const ModelOptions& cell);

// Bytes of memory that holding the cell takes: its state, and all vectors of its gradients.
std::int64_t held_bytes(const RunManifest& run, CellIndex cell);

// The layout of the model's piece, taken from that of the whole.
std::vector<ParameterInfo> layout_of_piece(const ModelOptions& model, std::vector<ParameterInfo> whole);

}  // namespace starling::wire
