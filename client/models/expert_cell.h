// A cell's experts (shared/run/cells.h), which compute for tokens whose trunk is somewhere else. Nothing is kept
// between the way there and the way back: what experts make of their inputs is computed again on the way back.
#pragma once

#include <cstdint>
#include <span>

#include "client/models/parameters.h"
#include "shared/run/cells.h"

namespace starling::models {

// Tokens for a cell's experts, in the order of the experts.
struct Units {
  std::span<const std::int32_t> counts;  // by expert of the cell
  std::span<const std::int32_t> rows;    // each expert's inputs, by their row; an input may have several experts
};

class ExpertCell {
 public:
  // `cell`: wire::cell_of a model. The others as for Parameters.
  ExpertCell(const wire::ModelOptions& cell, const at::Tensor& parameters, const at::Tensor& gradient);

  // inputs [rows, width] to the results of the units, [units, width].
  [[nodiscard]] at::Tensor forward(const at::Tensor& inputs, const Units& units) const;
  // Adds to the cell's gradient; upstream [units, width]. Returns the gradient of the inputs.
  [[nodiscard]] at::Tensor backward(const at::Tensor& inputs, const Units& units, const at::Tensor& upstream) const;

 private:
  [[nodiscard]] at::Tensor results(const at::Tensor& inputs, const Units& units) const;

  wire::Cell cell_;
  Parameters parameters_;
};

}  // namespace starling::models
