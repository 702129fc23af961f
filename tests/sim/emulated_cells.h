// Training of a model whose experts belong to others, on virtual time: the emulator of Learning@home (Ryabinin and
// Gusev, arXiv 2002.04013, section 4.2), with a call for each layer in the place of one delay. A caller reads the
// trunk, takes a few pictures through the layers, one call after the other, and back again; then the trunk steps on a
// gradient that is by then old, by the updates that others have brought in the meantime. An expert computes each call
// at the parameters that it has at that moment. It steps by itself, once it has gathered a number of inputs, or a
// number of updates after the first of them. An expert that fails counts as minus infinity at the gate, so that others
// take its place, and shares are those of the experts that answer. A dense model is trained beside it, each caller with
// all of its parameters as they were when the step began. The choice of experts (client/routing) and the steps
// (client/optim) are the product's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "shared/base/result.h"
#include "tests/sim/cells_model.h"
#include "tests/sim/fashion.h"

namespace starling::sim {

constexpr int kCellsCheckpoints = 64;  // evaluations of a training, at equal distances
// A caller's own computing, from the end of a step to the begin of its next one. With a delay of equal length half of
// the callers have a step under way, so that gradients are as old as in the authors' runs: 27 to 41 updates of 64
// callers.
constexpr double kComputingMs = 1000;

// One training.
struct CellsSetup {
  CellsShape shape;
  // A dense model, with one expert in each layer: callers compute all of it, and experts step together with the trunk.
  bool is_dense = false;
  double delay_ms = 0;  // mean of a step's calls together, which is exponentially distributed
  double failures = 0;  // fraction of experts that do not answer, drawn for each picture and layer
  int callers = 64;
  int batch = 4;         // pictures of a caller's step
  int updates = 16'384;  // steps of the trunk; a multiple of kCellsCheckpoints
  // An expert steps on this number of inputs, whatever callers they are from, or that number of updates after the first
  // of them. Both are four times the authors': with theirs most steps are on two or three pictures.
  int inputs_to_step = 16;
  int updates_to_step = 40;
  double trunk_rate = 1e-4;  // learning rates of AdamW, which fall to 0 along half a cosine
  double expert_rate = 2e-3;
  std::size_t evaluated = 10'000;  // held-out pictures in the end; a tenth of them at each checkpoint
};

// Accuracies are fractions of held-out pictures; calls fail in evaluations, too.
struct CellsResult {
  std::vector<double> accuracies;  // by checkpoint
  double at_quarter = 0;           // mean of the checkpoints around a quarter of the updates
  double at_end = 0;
  double trunk_staleness = 0;   // updates from the reading of the trunk to its step, in the mean
  double expert_staleness = 0;  // steps of an expert from a call on the way there to the one back, in the mean
  double busiest = 0;           // inputs of a layer's busiest expert over its experts' mean, the highest of all layers
};

// Equal arguments give equal results. on_update, if there is one, is called after each step of the trunk. corrupt when
// training leaves the finite numbers.
Result<CellsResult> train_cells(const CellsSetup& setup, const Fashion& data, std::uint64_t seed,
                                const std::function<void()>& on_update = {});

}  // namespace starling::sim
