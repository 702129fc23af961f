#include <algorithm>
#include <cmath>
#include <limits>

#include "client/optim/adamw.h"
#include "client/optim/newton_schulz.h"

namespace starling::optim {

namespace {

// Jordan et al., 2024, as in torch.optim.Muon, with the step's length of Liu et al. (arXiv 2502.16982): a hidden matrix
// moves along its momentum with all singular values taken to about 1; all other tensors use AdamW. A hidden matrix's
// second vector stays zero.
//
// The first pass changes parameters, the second the momenta of hidden matrices: the inputs of a matrix's direction stay
// unchanged until all of the matrix has been stepped, so that a process that continues a step finds the identical
// direction.
class MuonRule final : public StepRule {
 public:
  explicit MuonRule(const StepInputs& inputs)
      : inputs_(inputs),
        decayed_(adamw_step(inputs, inputs.round + 1)),
        plain_(decayed_),
        momentum_(static_cast<float>(inputs.options.momentum)),
        rest_(static_cast<float>(1 - inputs.options.momentum)) {
    plain_.decay = 1;
  }

  [[nodiscard]] int passes() const override { return 2; }

  [[nodiscard]] VectorSet changed(const Stretch& stretch) const override {
    if (!inputs_.layout[stretch.tensor].hidden) return stretch.pass == 0 ? 0b111 : 0;
    return stretch.pass == 0 ? 0b1 : 0b10;
  }

  void compute(const Stretch& stretch, std::span<const float> /*scales*/, const Piece& piece) override {
    const wire::ParameterInfo& tensor = inputs_.layout[stretch.tensor];
    if (!tensor.hidden) {
      inputs_.kernels.adamw(tensor.decayed ? decayed_ : plain_, piece);
    } else if (stretch.pass == 0) {
      step_matrix(stretch, piece);
    } else {
      for (std::size_t i = 0; i < piece.size; ++i) {
        piece.to[1][i] = next_momentum(piece.from[1][i], scaled(piece.gradient[i]));
      }
    }
  }

 private:
  [[nodiscard]] float scaled(float gradient) const { return gradient * inputs_.gradient_scale; }
  [[nodiscard]] float next_momentum(float momentum, float gradient) const {
    return momentum * momentum_ + gradient * rest_;
  }

  void step_matrix(const Stretch& stretch, const Piece& piece) {
    const wire::ParameterInfo& tensor = inputs_.layout[stretch.tensor];
    if (direction_of_ != stretch.tensor) direction_ = direction_of(tensor);
    direction_of_ = stretch.tensor;
    const auto rows = static_cast<std::size_t>(tensor.shape[0]);
    // Orthonormal rows (or columns) have a root mean square of 1 / sqrt(the longer side).
    const auto longer = static_cast<double>(std::max(rows, tensor.count / rows));
    const auto step_size = static_cast<float>(inputs_.learning_rate * inputs_.options.update_rms * std::sqrt(longer));
    const float* direction = direction_.data() + (stretch.begin - tensor.offset);
    for (std::size_t i = 0; i < piece.size; ++i) {
      piece.to[0][i] = piece.from[0][i] * decayed_.decay - step_size * direction[i];
    }
  }

  [[nodiscard]] std::vector<float> direction_of(const wire::ParameterInfo& tensor) const {
    const float* gradient = inputs_.gradient.data() + tensor.offset;
    const float* momentum = inputs_.vector(1) + tensor.offset;
    std::vector<float> matrix(tensor.count);
    for (std::size_t i = 0; i < matrix.size(); ++i) {
      const float next = next_momentum(momentum[i], scaled(gradient[i]));
      matrix[i] = inputs_.options.nesterov ? scaled(gradient[i]) * rest_ + next * momentum_ : next;
    }
    return orthogonalized(std::move(matrix), static_cast<std::size_t>(tensor.shape[0]),
                          inputs_.options.newton_schulz_steps, inputs_.kernels);
  }

  StepInputs inputs_;
  AdamWStep decayed_, plain_;
  float momentum_, rest_;
  std::vector<float> direction_;  // direction of the matrix that is being stepped
  std::size_t direction_of_ = std::numeric_limits<std::size_t>::max();
};

}  // namespace

std::unique_ptr<StepRule> make_muon_rule(const StepInputs& inputs) { return std::make_unique<MuonRule>(inputs); }

}  // namespace starling::optim
