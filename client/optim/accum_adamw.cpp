#include "client/optim/adamw.h"

namespace starling::optim {

namespace {

// Wang et al., ICLR 2025 (arXiv 2410.11998): every round steps with the moments that its gradient would give, but the
// stored ones are updated once in a window of rounds, with the window's mean gradient. So the second moment has the
// scale of a large batch, however noisy a single round's gradient is.
class AccumAdamWRule final : public StepRule {
 public:
  explicit AccumAdamWRule(const StepInputs& inputs) : inputs_(inputs) {
    const std::int64_t rounds = inputs.options.window_rounds;
    decayed_.adamw = adamw_step(inputs, inputs.round / rounds + 1);
    decayed_.share = static_cast<float>(1 / static_cast<double>(rounds));
    plain_ = decayed_;
    plain_.adamw.decay = 1;
    is_last_ = (inputs.round + 1) % rounds == 0;
  }

  [[nodiscard]] VectorSet changed(const Stretch& /*stretch*/) const override { return is_last_ ? 0b1111 : 0b1001; }

  void compute(const Stretch& stretch, std::span<const float> /*scales*/, const Piece& piece) override {
    const AccumAdamWStep& step = inputs_.layout[stretch.tensor].decayed ? decayed_ : plain_;
    (is_last_ ? inputs_.kernels.accum_adamw_last : inputs_.kernels.accum_adamw)(step, piece);
  }

 private:
  StepInputs inputs_;
  AccumAdamWStep decayed_, plain_;
  bool is_last_ = false;  // this round is the last of its window
};

}  // namespace

std::unique_ptr<StepRule> make_accum_adamw_rule(const StepInputs& inputs) {
  return std::make_unique<AccumAdamWRule>(inputs);
}

}  // namespace starling::optim
