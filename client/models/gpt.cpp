#include "client/models/gpt.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "client/models/attention.h"
#include "shared/base/verify.h"

namespace starling::models {

Gpt::Gpt(const wire::ModelOptions& model, const at::Tensor& parameters, const at::Tensor& gradient)
    : model_(model), parameters_(model, parameters, gradient) {}

at::Tensor Gpt::embed(const at::Tensor& tokens) const {
  const std::int64_t length = tokens.size(1);
  at::Tensor x = at::embedding(parameters_["embedding.weight"], tokens);
  if (model_.positions == wire::Positions::learned) x = x + parameters_["position.weight"].narrow(0, 0, length);
  for (std::int64_t back = 1; back <= std::min<std::int64_t>(model_.recent, length - 1); ++back) {
    const at::Tensor table = parameters_["recent.weight"].narrow(0, (back - 1) * model_.vocabulary, model_.vocabulary);
    const at::Tensor earlier = at::embedding(table, tokens.narrow(1, 0, length - back));
    x = x + at::constant_pad_nd(earlier, {0, 0, back, 0});  // zeros stand before the first token
  }
  return x.view({-1, model_.width});
}

at::Tensor Gpt::activation(const at::Tensor& x) const {
  return model_.activation == wire::Activation::gelu ? at::gelu(x, "tanh") : at::relu(x).square();
}

at::Tensor Gpt::next_token_scores(const at::Tensor& tokens) const {
  VERIFY(tokens.dim() == 2 && tokens.size(1) <= model_.context);
  at::Tensor x = embed(tokens);
  for (int layer = 0; layer < model_.layers; ++layer) {
    const std::string block = "block" + std::to_string(layer) + ".";
    at::Tensor qkv = at::mm(parameters_.norm(x, block + "attention_norm"), parameters_[block + "qkv.weight"].t());
    qkv = qkv.view({tokens.size(0), tokens.size(1), -1});
    if (model_.positions == wire::Positions::rotary) qkv = with_rotary_positions(qkv, model_.heads);
    const at::Tensor mixed = causal_attention(qkv, model_.heads);
    x = x + parameters_.linear(mixed.view({-1, model_.width}), block + "attention_out");
    const at::Tensor hidden = parameters_.linear(parameters_.norm(x, block + "mlp_norm"), block + "mlp_in");
    x = x + parameters_.linear(activation(hidden), block + "mlp_out");
  }
  return at::mm(parameters_.norm(x, "final_norm"), parameters_["embedding.weight"].t());
}

at::Tensor Gpt::loss(const Batch& batch) const { return next_token_loss(next_token_scores(batch.at(0)), batch); }

}  // namespace starling::models
