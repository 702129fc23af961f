#include "client/models/gpt.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "client/models/attention.h"
#include "shared/base/verify.h"
#include "shared/wire/model_layout.h"

namespace starling::models {

Gpt::Gpt(const wire::ModelOptions& model, const at::Tensor& parameters, const at::Tensor& gradient) : model_(model) {
  VERIFY(static_cast<std::size_t>(parameters.numel()) == wire::parameter_count(model));
  VERIFY(gradient.numel() == parameters.numel());
  for (const wire::ParameterInfo& info : wire::model_layout(model)) {
    const auto offset = static_cast<std::int64_t>(info.offset);
    const auto count = static_cast<std::int64_t>(info.count);
    at::Tensor view = parameters.narrow(0, offset, count).view(info.shape).detach();
    view.requires_grad_(true);
    view.mutable_grad() = gradient.narrow(0, offset, count).view(info.shape);
    parameters_.emplace(info.name, view);
  }
}

at::Tensor Gpt::embed(const at::Tensor& tokens) const {
  const std::int64_t length = tokens.size(1);
  at::Tensor x =
      at::embedding(parameter("embedding.weight"), tokens) + parameter("position.weight").narrow(0, 0, length);
  for (std::int64_t back = 1; back <= std::min<std::int64_t>(wire::kRecentBytes, length - 1); ++back) {
    const at::Tensor table = parameter("recent.weight").narrow(0, (back - 1) * model_.vocabulary, model_.vocabulary);
    const at::Tensor earlier = at::embedding(table, tokens.narrow(1, 0, length - back));
    x = x + at::constant_pad_nd(earlier, {0, 0, back, 0});  // nothing comes before the first byte
  }
  return x.view({-1, model_.width});
}

at::Tensor Gpt::norm(const at::Tensor& x, const std::string& name) const {
  return at::layer_norm(x, {model_.width}, parameter(name + ".weight"), parameter(name + ".bias"));
}

at::Tensor Gpt::linear(const at::Tensor& x, const std::string& name) const {
  return at::addmm(parameter(name + ".bias"), x, parameter(name + ".weight").t());
}

at::Tensor Gpt::logits(const at::Tensor& tokens) const {
  VERIFY(tokens.dim() == 2 && tokens.size(1) <= model_.context);
  at::Tensor x = embed(tokens);
  for (int layer = 0; layer < model_.layers; ++layer) {
    const std::string block = "block" + std::to_string(layer) + ".";
    const at::Tensor qkv = at::mm(norm(x, block + "attention_norm"), parameter(block + "qkv.weight").t());
    const at::Tensor mixed = causal_attention(qkv.view({tokens.size(0), tokens.size(1), -1}), model_.heads);
    x = x + linear(mixed.view({-1, model_.width}), block + "attention_out");
    const at::Tensor hidden = linear(norm(x, block + "mlp_norm"), block + "mlp_in");
    x = x + linear(at::relu(hidden).square(), block + "mlp_out");
  }
  return at::mm(norm(x, "final_norm"), parameter("embedding.weight").t());
}

at::Tensor Gpt::loss(const at::Tensor& tokens, const at::Tensor& targets) const {
  const at::Tensor total =
      at::cross_entropy_loss(logits(tokens), targets.reshape({-1}), /*weight=*/{}, at::Reduction::Sum);
  return total / static_cast<double>(tokens.size(1));
}

}  // namespace starling::models
