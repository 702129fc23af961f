#include "client/optim/step_rule.h"

namespace starling::optim {

std::unique_ptr<StepRule> make_step_rule(const StepInputs& inputs) {
  switch (inputs.options.kind) {
    case wire::OptimizerKind::sgd:
      return make_sgd_rule(inputs);
    case wire::OptimizerKind::lamb:
      return make_lamb_rule(inputs);
    case wire::OptimizerKind::muon:
      return make_muon_rule(inputs);
    case wire::OptimizerKind::accum_adamw:
      return make_accum_adamw_rule(inputs);
    case wire::OptimizerKind::adamw:
      break;
  }
  return make_adamw_rule(inputs);
}

}  // namespace starling::optim
