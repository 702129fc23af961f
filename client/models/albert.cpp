#include "client/models/albert.h"

#include <ATen/ATen.h>

#include "client/models/attention.h"

namespace starling::models {

namespace {

constexpr double kNormEpsilon = 1e-12;  // the published value

}  // namespace

Albert::Albert(const wire::ModelOptions& model, const at::Tensor& parameters, const at::Tensor& gradient)
    : model_(model), parameters_(model, parameters, gradient) {}

at::Tensor Albert::encode(const at::Tensor& tokens, const at::Tensor& segments) const {
  at::Tensor x = at::embedding(parameters_["embedding.weight"], tokens) +
                 at::embedding(parameters_["segment.weight"], segments) +
                 parameters_["position.weight"].narrow(0, 0, tokens.size(1));
  x = parameters_.norm(x.view({-1, model_.embedding_width}), "embedding_norm", kNormEpsilon);
  x = parameters_.linear(x, "widen");
  for (int layer = 0; layer < model_.layers; ++layer) {
    const at::Tensor qkv = at::mm(x, parameters_["qkv.weight"].t()).view({tokens.size(0), tokens.size(1), -1});
    const at::Tensor mixed = full_attention(qkv, model_.heads).view({-1, model_.width});
    x = parameters_.norm(x + parameters_.linear(mixed, "attention_out"), "attention_norm", kNormEpsilon);
    const at::Tensor hidden = at::gelu(parameters_.linear(x, "mlp_in"), "tanh");
    x = parameters_.norm(x + parameters_.linear(hidden, "mlp_out"), "mlp_norm", kNormEpsilon);
  }
  return x;
}

at::Tensor Albert::guess_scores(const at::Tensor& encoded, const Batch& batch) const {
  const at::Tensor hidden =
      at::gelu(parameters_.linear(encoded.index_select(0, batch.at(2).reshape({-1})), "guess"), "tanh");
  return at::addmm(parameters_["guess_out.bias"], parameters_.norm(hidden, "guess_norm", kNormEpsilon),
                   parameters_["embedding.weight"].t());
}

at::Tensor Albert::guess_loss(const at::Tensor& scores, const at::Tensor& tokens) const {
  const at::Tensor nats =
      at::cross_entropy_loss(scores, tokens.reshape({-1}), /*weight=*/{}, at::Reduction::None, kNoGuess);
  const at::Tensor guesses = (tokens != kNoGuess).sum(1).clamp_min(1);
  return (nats.view(tokens.sizes()).sum(1) / guesses).sum();
}

at::Tensor Albert::order_loss(const at::Tensor& encoded, const at::Tensor& order) const {
  const at::Tensor begins = encoded.view({order.size(0), -1, model_.width}).select(1, 0);
  const at::Tensor pooled = at::tanh(parameters_.linear(begins, "pooler"));
  return at::cross_entropy_loss(parameters_.linear(pooled, "order"), order, /*weight=*/{}, at::Reduction::Sum);
}

at::Tensor Albert::loss(const Batch& batch) const {
  const at::Tensor encoded = encode(batch.at(0), batch.at(1));
  return guess_loss(guess_scores(encoded, batch), batch.at(3)) + order_loss(encoded, batch.at(4));
}

Judged Albert::judge(const Batch& batch) const {
  const at::Tensor encoded = encode(batch.at(0), batch.at(1));
  const at::Tensor scores = guess_scores(encoded, batch);
  return {guess_loss(scores, batch.at(3)) + order_loss(encoded, batch.at(4)),
          hits_of(scores, batch.at(3).reshape({-1}))};
}

}  // namespace starling::models
