#include "client/models/decoder.h"

#include <ATen/ATen.h>

#include "client/models/experts.h"
#include "shared/base/verify.h"
#include "shared/run/model_layout.h"

namespace starling::models {

Decoder::Decoder(const wire::ModelOptions& model, const at::Tensor& parameters, const at::Tensor& gradient)
    : model_(model), heads_(model.heads, wire::kv_heads(model)), parameters_(model, parameters, gradient) {}

at::Tensor Decoder::attention(const at::Tensor& x, std::int64_t batch, const std::string& block) const {
  const at::Tensor qkv = parameters_.product(x, block + "qkv").view({batch, x.size(0) / batch, -1});
  const at::Tensor mixed = causal_attention(with_rotary_positions(qkv, heads_), heads_);
  return parameters_.product(mixed.view({-1, model_.width}), block + "attention_out");
}

Decoder::Forward Decoder::forward(const at::Tensor& tokens) const {
  VERIFY(tokens.dim() == 2 && tokens.size(1) <= model_.context);
  at::Tensor x = at::embedding(parameters_["embedding.weight"], tokens).view({-1, model_.width});
  at::Tensor lost;
  for (int layer = 0; layer < model_.layers; ++layer) {
    const std::string block = "block" + std::to_string(layer) + ".";
    x = x + attention(parameters_.rms_norm(x, block + "attention_norm"), tokens.size(0), block);
    const at::Tensor in = parameters_.rms_norm(x, block + "mlp_norm");
    if (!wire::has_experts(model_, layer)) {
      x = x + parameters_.gated_perceptron(in, block);
      continue;
    }
    const at::Tensor scores = gate_scores(model_, parameters_, in, block);
    const Choice choice = choose_experts(scores, model_.experts.active);
    x = x + mix_experts(model_, parameters_, in, choice, layer);
    const at::Tensor lost_here = gate_loss(model_, scores, choice, tokens.size(0));
    lost = lost.defined() ? lost + lost_here : lost_here;
  }
  const bool tied = model_.output_layer == wire::OutputLayer::tied;
  return {parameters_.product(parameters_.rms_norm(x, "final_norm"), tied ? "embedding" : "output"), lost};
}

at::Tensor Decoder::next_token_scores(const at::Tensor& tokens) const { return forward(tokens).scores; }

at::Tensor Decoder::loss(const Batch& batch) const {
  const Forward done = forward(batch.at(0));
  const at::Tensor predictions = next_token_loss(done.scores, batch);
  return done.gate_loss.defined() ? predictions + (done.gate_loss - done.gate_loss.detach()) : predictions;
}

}  // namespace starling::models
