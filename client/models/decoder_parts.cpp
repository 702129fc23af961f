#include "client/models/decoder_parts.h"

#include <ATen/ATen.h>

#include <utility>

#include "shared/base/verify.h"
#include "shared/run/model_layout.h"

namespace starling::models {

DecoderParts::DecoderParts(const wire::ModelOptions& model, Parameters parameters)
    : model_(model), heads_(model.heads, wire::kv_heads(model)), parameters_(std::move(parameters)) {}

std::string DecoderParts::block(int layer) { return "block" + std::to_string(layer) + "."; }

at::Tensor DecoderParts::embedded(const at::Tensor& tokens) const {
  VERIFY(tokens.dim() == 2 && tokens.size(1) <= model_.context);
  return at::embedding(parameters_["embedding.weight"], tokens).view({-1, model_.width});
}

at::Tensor DecoderParts::with_attention(const at::Tensor& x, std::int64_t batch, int layer) const {
  const at::Tensor in = parameters_.rms_norm(x, block(layer) + "attention_norm");
  const at::Tensor qkv = parameters_.product(in, block(layer) + "qkv").view({batch, x.size(0) / batch, -1});
  const at::Tensor mixed = causal_attention(with_rotary_positions(qkv, heads_), heads_);
  return x + parameters_.product(mixed.view({-1, model_.width}), block(layer) + "attention_out");
}

at::Tensor DecoderParts::normalised(const at::Tensor& x, int layer) const {
  return parameters_.rms_norm(x, block(layer) + "mlp_norm");
}

at::Tensor DecoderParts::perceptron(const at::Tensor& x, int layer) const {
  return parameters_.gated_perceptron(x, block(layer));
}

at::Tensor DecoderParts::token_scores(const at::Tensor& x) const {
  const bool tied = model_.output_layer == wire::OutputLayer::tied;
  return parameters_.product(parameters_.rms_norm(x, "final_norm"), tied ? "embedding" : "output");
}

}  // namespace starling::models
