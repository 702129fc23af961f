#include "client/optim/adamw.h"

#include <cmath>

#include "client/optim/exact_math.h"

namespace starling::optim {

AdamWStep adamw_step(const StepInputs& inputs, std::int64_t updates) {
  const wire::OptimizerOptions& options = inputs.options;
  AdamWStep step;
  step.gradient_scale = inputs.gradient_scale;
  step.decay = static_cast<float>(1 - inputs.learning_rate * options.weight_decay);
  step.beta1 = static_cast<float>(options.beta1);
  step.beta1_rest = static_cast<float>(1 - options.beta1);
  step.beta2 = static_cast<float>(options.beta2);
  step.beta2_rest = static_cast<float>(1 - options.beta2);
  step.step_size = static_cast<float>(inputs.learning_rate / (1 - integer_power(options.beta1, updates)));
  step.second_scale = static_cast<float>(1 / std::sqrt(1 - integer_power(options.beta2, updates)));
  step.epsilon = static_cast<float>(options.epsilon);
  return step;
}

namespace {

// Loshchilov & Hutter, ICLR 2019.
class AdamWRule final : public StepRule {
 public:
  explicit AdamWRule(const StepInputs& inputs)
      : layout_(inputs.layout),
        kernel_(inputs.kernels.adamw),
        decayed_(adamw_step(inputs, inputs.round + 1)),
        plain_(decayed_) {
    plain_.decay = 1;
  }

  [[nodiscard]] VectorSet changed(const Stretch& /*stretch*/) const override { return 0b111; }

  void compute(const Stretch& stretch, std::span<const float> /*scales*/, const Piece& piece) override {
    kernel_(layout_[stretch.tensor].decayed ? decayed_ : plain_, piece);
  }

 private:
  const std::vector<wire::ParameterInfo>& layout_;
  void (*kernel_)(const AdamWStep&, const Piece&);
  AdamWStep decayed_, plain_;
};

}  // namespace

std::unique_ptr<StepRule> make_adamw_rule(const StepInputs& inputs) { return std::make_unique<AdamWRule>(inputs); }

}  // namespace starling::optim
