#include "client/models/model.h"

#include <ATen/ATen.h>

#include "client/models/albert.h"
#include "client/models/decoder.h"
#include "client/models/gpt.h"
#include "client/models/mlp.h"
#include "client/models/resnet.h"
#include "client/models/script.h"

namespace starling::models {

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

at::Tensor next_token_loss(const at::Tensor& scores, const Batch& batch) {
  return class_loss(scores, batch.at(1).reshape({-1})) / static_cast<double>(batch.at(0).size(1));
}

std::unique_ptr<Model> make_model(const wire::ModelOptions& model, const at::Tensor& parameters,
                                  const at::Tensor& gradient, std::span<const std::uint8_t> program) {
  switch (model.architecture) {
    case wire::Architecture::gpt:
      return std::make_unique<Gpt>(model, parameters, gradient);
    case wire::Architecture::albert:
      return std::make_unique<Albert>(model, parameters, gradient);
    case wire::Architecture::resnet:
      return std::make_unique<Resnet>(model, parameters, gradient);
    case wire::Architecture::mlp:
      return std::make_unique<Mlp>(model, parameters, gradient);
    case wire::Architecture::decoder:
      return std::make_unique<Decoder>(model, parameters, gradient);
    case wire::Architecture::script:
      break;
  }
  return load_script(model, parameters, gradient, program);
}

}  // namespace starling::models
