// The rule by which a kind of optimizer turns a gradient into a step. Optimizer takes the step with it, piece by piece.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "client/optim/kernels.h"
#include "shared/base/ids.h"
#include "shared/run/model_layout.h"
#include "shared/run/optimizer_options.h"

namespace starling::optim {

// Inputs of one step. Referenced objects must outlive it.
struct StepInputs {
  const wire::OptimizerOptions& options;
  const std::vector<wire::ParameterInfo>& layout;
  const Kernels& kernels;
  RoundIndex round = 0;
  double learning_rate = 0;
  float gradient_scale = 1;  // clipping
  std::span<const float> gradient;
  const float* state = nullptr;  // first parameter; the optimizer's vectors follow
  std::size_t stride = 0;        // floats between the starts of two vectors
  std::size_t vectors = 1;       // vectors in the state

  // Vector 0 holds the parameters.
  [[nodiscard]] const float* vector(std::size_t index) const { return state + index * stride; }
};

// The piece to be computed.
struct Stretch {
  int pass = 0;
  std::size_t tensor = 0;  // index in the layout
  std::size_t begin = 0;   // place of its first float in the flat vector
};

// Bit v stands for vector v of the state.
using VectorSet = unsigned;

// Made for one step. All results follow from the inputs and from values that have not been changed yet, to identical
// bits every time, so that a step can go on in another process. The first pass changes all parameters, and no later one
// does; a piece's result does not depend on whether other pieces have been changed.
class StepRule {
 public:
  virtual ~StepRule() = default;
  // Number of passes over all blocks. A later pass sees the changes of the earlier ones.
  [[nodiscard]] virtual int passes() const { return 1; }
  // Called before the first pass: computes one number per tensor, which compute() gets. `scratch` holds kStepBlock
  // floats.
  virtual void prepare(std::span<float> /*scales*/, float* /*scratch*/) {}
  // The vectors that compute() writes.
  [[nodiscard]] virtual VectorSet changed(const Stretch& stretch) const = 0;
  // Computes new values of a piece of one tensor.
  virtual void compute(const Stretch& stretch, std::span<const float> scales, const Piece& piece) = 0;
};

std::unique_ptr<StepRule> make_sgd_rule(const StepInputs& inputs);
std::unique_ptr<StepRule> make_adamw_rule(const StepInputs& inputs);
std::unique_ptr<StepRule> make_lamb_rule(const StepInputs& inputs);
std::unique_ptr<StepRule> make_muon_rule(const StepInputs& inputs);
std::unique_ptr<StepRule> make_accum_adamw_rule(const StepInputs& inputs);
// Makes the rule of inputs.options.kind.
std::unique_ptr<StepRule> make_step_rule(const StepInputs& inputs);

}  // namespace starling::optim
