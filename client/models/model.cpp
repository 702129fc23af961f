#include "client/models/model.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "client/models/albert.h"
#include "client/models/gpt.h"
#include "client/models/mlp.h"
#include "client/models/resnet.h"
#include "client/models/script.h"
#include "shared/base/verify.h"

namespace starling::models {

namespace {

template <typename Architecture>
std::unique_ptr<Model> make(const wire::ModelOptions& model, const at::Tensor& parameters, const at::Tensor& gradient) {
  return std::make_unique<Architecture>(model, parameters, gradient);
}

struct Maker {
  std::string_view architecture;
  std::unique_ptr<Model> (*make)(const wire::ModelOptions&, const at::Tensor&, const at::Tensor&);
};

constexpr std::array kMakers = {
    Maker{"gpt", make<Gpt>},
    Maker{"albert", make<Albert>},
    Maker{"resnet", make<Resnet>},
    Maker{"mlp", make<Mlp>},
};

}  // namespace

at::Tensor class_loss(const at::Tensor& scores, const at::Tensor& targets) {
  return at::cross_entropy_loss(scores, targets, /*weight=*/{}, at::Reduction::Sum);
}

Hits hits_of(const at::Tensor& scores, const at::Tensor& targets) {
  const at::Tensor counts = targets != kNoGuess;
  const at::Tensor right = (scores.argmax(1) == targets) & counts;
  return {counts.sum().item<std::int64_t>(), right.sum().item<std::int64_t>()};
}

Judged Model::judge(const Batch& batch) const { return {loss(batch), {}}; }

at::Tensor Model::next_token_scores(const at::Tensor&) const { return {}; }

std::unique_ptr<Model> make_model(const wire::ModelOptions& model, const at::Tensor& parameters,
                                  const at::Tensor& gradient, std::span<const std::uint8_t> program) {
  if (wire::has_program(model)) return load_script(model, parameters, gradient, program);
  const auto maker = std::find_if(kMakers.begin(), kMakers.end(),
                                  [&](const Maker& known) { return known.architecture == model.architecture; });
  VERIFY(maker != kMakers.end());
  return maker->make(model, parameters, gradient);
}

}  // namespace starling::models
