// What a kind of optimizer makes of a gradient. Optimizer takes the step with it, piece by piece.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "client/optim/kernels.h"
#include "shared/base/ids.h"
#include "shared/wire/model_layout.h"
#include "shared/wire/optimizer_options.h"

namespace starling::optim {

// One step. What it refers to outlives it.
struct StepInputs {
  const wire::OptimizerOptions& options;
  const std::vector<wire::ParameterInfo>& layout;
  const Kernels& kernels;
  RoundIndex round = 0;
  double learning_rate = 0;
  float gradient_scale = 1;  // clipping
  std::span<const float> gradient;
  const float* state = nullptr;  // the parameters' first; the optimizer's vectors follow
  std::size_t stride = 0;        // from one vector's first float to the next one's
  std::size_t vectors = 1;       // of the state

  // Vector 0 are the parameters.
  [[nodiscard]] const float* vector(std::size_t index) const { return state + index * stride; }
};

// Which piece is computed.
struct Stretch {
  int pass = 0;
  std::size_t tensor = 0;  // index in the layout
  std::size_t begin = 0;   // of its first float in the flat vector
};

// Bit v stands for vector v of the state.
using VectorSet = unsigned;

// Made for one step. Whatever it computes follows from its inputs alone and from what has not been changed yet, to the
// same bits every time, so that a step can go on in another process. The first pass changes all parameters, and no
// later one does; what it makes of a piece does not depend on whether other pieces have been changed.
class StepRule {
 public:
  virtual ~StepRule() = default;
  // How often the step goes over all blocks. A later pass sees what the earlier ones have changed.
  [[nodiscard]] virtual int passes() const { return 1; }
  // Before the first pass: what compute() will ask of each tensor, one number each. `scratch` holds kStepBlock floats.
  virtual void prepare(std::span<float> /*scales*/, float* /*scratch*/) {}
  // The vectors that compute() writes.
  [[nodiscard]] virtual VectorSet changed(const Stretch& stretch) const = 0;
  // New values of a piece of one tensor.
  virtual void compute(const Stretch& stretch, std::span<const float> scales, const Piece& piece) = 0;
};

std::unique_ptr<StepRule> make_sgd_rule(const StepInputs& inputs);
std::unique_ptr<StepRule> make_adamw_rule(const StepInputs& inputs);
std::unique_ptr<StepRule> make_lamb_rule(const StepInputs& inputs);
std::unique_ptr<StepRule> make_muon_rule(const StepInputs& inputs);
std::unique_ptr<StepRule> make_accum_adamw_rule(const StepInputs& inputs);
// The one that inputs.options.kind names.
std::unique_ptr<StepRule> make_step_rule(const StepInputs& inputs);

}  // namespace starling::optim
