#include <algorithm>
#include <cmath>

#include "client/optim/adamw.h"
#include "client/optim/exact_math.h"

namespace starling::optim {

namespace {

// You et al., ICLR 2020: each tensor moves along AdamW's direction, weight decay included, by a share of the tensor's
// own length. Norms and biases are neither decayed nor scaled.
class LambRule final : public StepRule {
 public:
  explicit LambRule(const StepInputs& inputs) : inputs_(inputs), decayed_(adamw_step(inputs, inputs.round + 1)) {
    decayed_.step_size = static_cast<float>(1 / (1 - integer_power(inputs.options.beta1, inputs.round + 1)));
    decayed_.decay = static_cast<float>(inputs.options.weight_decay);
    plain_ = decayed_;
    plain_.decay = 0;
  }

  void prepare(std::span<float> scales, float* scratch) override {
    for (std::size_t tensor = 0; tensor < scales.size(); ++tensor) {
      const wire::ParameterInfo& info = inputs_.layout[tensor];
      scales[tensor] = info.decayed ? trust_ratio(info, scratch) : 1.0F;
    }
  }

  [[nodiscard]] VectorSet changed(const Stretch& /*stretch*/) const override { return 0b111; }

  void compute(const Stretch& stretch, std::span<const float> scales, const Piece& piece) override {
    const LambStep step{inputs_.layout[stretch.tensor].decayed ? decayed_ : plain_,
                        static_cast<float>(inputs_.learning_rate * scales[stretch.tensor])};
    inputs_.kernels.lamb(step, piece);
  }

 private:
  // Length of the tensor over the length of its direction, within its bounds; 1 if either is zero.
  [[nodiscard]] float trust_ratio(const wire::ParameterInfo& tensor, float* scratch) const {
    double parameters = 0, direction = 0;
    for (std::size_t begin = tensor.offset; begin < tensor.offset + tensor.count; begin += kStepBlock) {
      Piece piece{std::min(kStepBlock, tensor.offset + tensor.count - begin), inputs_.gradient.data() + begin};
      for (std::size_t vector = 0; vector < 3; ++vector) piece.from[vector] = inputs_.vector(vector) + begin;
      piece.to[0] = scratch;
      inputs_.kernels.lamb_direction(decayed_, piece);
      direction += inputs_.kernels.squared_norm(scratch, piece.size);
      parameters += inputs_.kernels.squared_norm(piece.from[0], piece.size);
    }
    if (!(parameters > 0) || !(direction > 0)) return 1;
    const double ratio = std::sqrt(parameters) / std::sqrt(direction);
    return static_cast<float>(std::clamp(ratio, inputs_.options.trust_min, inputs_.options.trust_max));
  }

  StepInputs inputs_;
  AdamWStep decayed_, plain_;
};

}  // namespace

std::unique_ptr<StepRule> make_lamb_rule(const StepInputs& inputs) { return std::make_unique<LambRule>(inputs); }

}  // namespace starling::optim
