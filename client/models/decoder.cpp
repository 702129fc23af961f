#include "client/models/decoder.h"

#include <ATen/ATen.h>

#include "client/models/experts.h"
#include "shared/run/model_layout.h"

namespace starling::models {

Decoder::Decoder(const wire::ModelOptions& model, const at::Tensor& parameters, const at::Tensor& gradient)
    : parts_(model, Parameters(model, parameters, gradient)) {}

Decoder::Forward Decoder::forward(const at::Tensor& tokens) const {
  const wire::ModelOptions& model = parts_.model();
  at::Tensor x = parts_.embedded(tokens);
  at::Tensor lost;
  for (int layer = 0; layer < model.layers; ++layer) {
    x = parts_.with_attention(x, tokens.size(0), layer);
    const at::Tensor in = parts_.normalised(x, layer);
    if (!wire::has_experts(model, layer)) {
      x = x + parts_.perceptron(in, layer);
      continue;
    }
    const at::Tensor outputs = gate_outputs(model, parts_.parameters(), in, DecoderParts::block(layer));
    const at::Tensor scores = expert_scores(model, outputs);
    const Choice choice = choose_experts(scores, model.experts.active);
    x = x + mix_experts(model, parts_.parameters(), in, choice, layer);
    const at::Tensor lost_here = gate_loss(model, scores, choice, tokens.size(0));
    lost = lost.defined() ? lost + lost_here : lost_here;
  }
  return {parts_.token_scores(x), lost};
}

at::Tensor Decoder::next_token_scores(const at::Tensor& tokens) const { return forward(tokens).scores; }

at::Tensor Decoder::loss(const Batch& batch) const {
  const Forward done = forward(batch.at(0));
  const at::Tensor predictions = next_token_loss(done.scores, batch);
  return done.gate_loss.defined() ? predictions + (done.gate_loss - done.gate_loss.detach()) : predictions;
}

}  // namespace starling::models
