// What AdamW and its relatives have in common.
#pragma once

#include "client/optim/step_rule.h"

namespace starling::optim {

// Coefficients of a step in which the moments have been updated `updates` times, this one included.
AdamWStep adamw_step(const StepInputs& inputs, std::int64_t updates);

}  // namespace starling::optim
