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
};

// Made for one step. Pure: the same inputs give the same bits whenever they are asked for, so that a step can go on
// in another process.
class StepRule {
 public:
  virtual ~StepRule() = default;
  // New values of a piece of `tensor` (an entry of the layout), all of them.
  virtual void compute(const wire::ParameterInfo& tensor, const Piece& piece) const = 0;
};

std::unique_ptr<StepRule> make_sgd_rule(const StepInputs& inputs);
std::unique_ptr<StepRule> make_adamw_rule(const StepInputs& inputs);
// The one that inputs.options.kind names.
std::unique_ptr<StepRule> make_step_rule(const StepInputs& inputs);

}  // namespace starling::optim
