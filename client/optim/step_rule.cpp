#include "client/optim/step_rule.h"

#include "shared/base/verify.h"

namespace starling::optim {

std::unique_ptr<StepRule> make_step_rule(const StepInputs& inputs) {
  const std::string& kind = inputs.options.kind;
  if (kind == "sgd") return make_sgd_rule(inputs);
  if (kind == "lamb") return make_lamb_rule(inputs);
  if (kind == "muon") return make_muon_rule(inputs);
  if (kind == "accum_adamw") return make_accum_adamw_rule(inputs);
  VERIFY(kind == "adamw");  // check_manifest refuses any other kind
  return make_adamw_rule(inputs);
}

}  // namespace starling::optim
