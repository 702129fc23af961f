#include "shared/run/optimizer_options.h"

namespace starling::wire {

OptimizerOptions default_optimizer(OptimizerKind kind) {
  OptimizerOptions options;
  options.kind = kind;
  switch (kind) {
    case OptimizerKind::sgd:
      options.weight_decay = 0;
      break;
    case OptimizerKind::adamw:
      break;
    case OptimizerKind::lamb:
      options.beta2 = 0.999;
      options.epsilon = 1e-6;
      options.weight_decay = 0.01;
      break;
    case OptimizerKind::muon:
      options.momentum = 0.95;
      options.nesterov = true;
      break;
    case OptimizerKind::accum_adamw:
      options.beta2 = 0.98;
      break;
  }
  return options;
}

int moment_vectors(const OptimizerOptions& options) {
  if (options.kind == OptimizerKind::sgd) return options.momentum > 0 ? 1 : 0;
  return options.kind == OptimizerKind::accum_adamw ? 3 : 2;
}

bool has_end(const ScheduleOptions& options) {
  return options.kind == ScheduleKind::cosine || options.kind == ScheduleKind::linear;
}

}  // namespace starling::wire
