// The common part of AdamW and its relatives.
#pragma once

#include "client/optim/step_rule.h"

namespace starling::optim {

// Coefficients of a step after which the moments have been updated `updates` times.
AdamWStep adamw_step(const StepInputs& inputs, std::int64_t updates);

}  // namespace starling::optim
