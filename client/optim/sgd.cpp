#include "client/optim/step_rule.h"

namespace starling::optim {

namespace {

// Stochastic gradient descent with momentum, Nesterov's if asked for (Sutskever et al., ICML 2013), as torch.optim.SGD
// has it: weight decay is part of the gradient.
class SgdRule final : public StepRule {
 public:
  explicit SgdRule(const StepInputs& inputs)
      : kernel_(wire::moment_vectors(inputs.options) > 0 ? inputs.kernels.sgd : inputs.kernels.plain_sgd) {
    decayed_.gradient_scale = inputs.gradient_scale;
    decayed_.decay = static_cast<float>(inputs.options.weight_decay);
    decayed_.momentum = static_cast<float>(inputs.options.momentum);
    decayed_.own = inputs.options.nesterov ? 1.0F : 0.0F;
    decayed_.share = inputs.options.nesterov ? decayed_.momentum : 1.0F;
    decayed_.step_size = static_cast<float>(inputs.learning_rate);
    plain_ = decayed_;
    plain_.decay = 0;
  }

  void compute(const wire::ParameterInfo& tensor, const Piece& piece) const override {
    kernel_(tensor.decayed ? decayed_ : plain_, piece);
  }

 private:
  void (*kernel_)(const SgdStep&, const Piece&);
  SgdStep decayed_, plain_;
};

}  // namespace

std::unique_ptr<StepRule> make_sgd_rule(const StepInputs& inputs) { return std::make_unique<SgdRule>(inputs); }

}  // namespace starling::optim
