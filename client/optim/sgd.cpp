#include "client/optim/step_rule.h"

namespace starling::optim {

namespace {

// Stochastic gradient descent with momentum, Nesterov's if requested (Sutskever et al., ICML 2013), as in
// torch.optim.SGD: weight decay is part of the gradient.
class SgdRule final : public StepRule {
 public:
  explicit SgdRule(const StepInputs& inputs)
      : layout_(inputs.layout),
        has_momentum_(wire::moment_vectors(inputs.options) > 0),
        kernel_(has_momentum_ ? inputs.kernels.sgd : inputs.kernels.plain_sgd) {
    decayed_.gradient_scale = inputs.gradient_scale;
    decayed_.decay = static_cast<float>(inputs.options.weight_decay);
    decayed_.momentum = static_cast<float>(inputs.options.momentum);
    decayed_.own = inputs.options.nesterov ? 1.0F : 0.0F;
    decayed_.share = inputs.options.nesterov ? decayed_.momentum : 1.0F;
    decayed_.step_size = static_cast<float>(inputs.learning_rate);
    plain_ = decayed_;
    plain_.decay = 0;
  }

  [[nodiscard]] VectorSet changed(const Stretch& /*stretch*/) const override { return has_momentum_ ? 0b11 : 0b1; }

  void compute(const Stretch& stretch, std::span<const float> /*scales*/, const Piece& piece) override {
    kernel_(layout_[stretch.tensor].decayed ? decayed_ : plain_, piece);
  }

 private:
  const std::vector<wire::ParameterInfo>& layout_;
  bool has_momentum_;
  void (*kernel_)(const SgdStep&, const Piece&);
  SgdStep decayed_, plain_;
};

}  // namespace

std::unique_ptr<StepRule> make_sgd_rule(const StepInputs& inputs) { return std::make_unique<SgdRule>(inputs); }

}  // namespace starling::optim
