#include "client/models/trunk.h"

#include <ATen/ATen.h>

#include <utility>

#include "client/models/experts.h"
#include "shared/base/verify.h"
#include "shared/run/cells.h"

namespace starling::models {

Trunk::Trunk(const wire::ModelOptions& trunk, const at::Tensor& parameters, const at::Tensor& gradient)
    : parts_(trunk, Parameters(trunk, parameters, gradient)), asking_(wire::layers_with_experts(trunk)) {
  VERIFY(trunk.experts.piece == wire::kTrunk);
}

at::Tensor Trunk::through_layers(at::Tensor x, std::int64_t batch, int from, int to) const {
  for (int layer = from; layer < to; ++layer) {
    x = parts_.with_attention(x, batch, layer);
    x = x + parts_.perceptron(parts_.normalised(x, layer), layer);
  }
  return x;
}

Asked Trunk::ask(at::Tensor x, std::int64_t batch, int from, int layer) const {
  x = parts_.with_attention(through_layers(std::move(x), batch, from, layer), batch, layer);
  const at::Tensor inputs = parts_.normalised(x, layer);
  return {x, inputs, gate_outputs(parts_.model(), parts_.parameters(), inputs, DecoderParts::block(layer))};
}

Asked Trunk::begin(const at::Tensor& tokens) const {
  VERIFY(!asking_.empty());
  return ask(parts_.embedded(tokens), tokens.size(0), 0, asking_.front());
}

Trunk::Mixed Trunk::mixed(const Asked& asked, const ExpertResults& results, std::int64_t batch) const {
  const at::Tensor scores = expert_scores(parts_.model(), asked.outputs);
  const Choice choice = choice_of(scores, results.experts);
  return {asked.stream + mixture(choice, results.places, results.values, asked.stream),
          gate_loss(parts_.model(), scores, choice, batch)};
}

Middle Trunk::go_on(int segment, const Asked& asked, const ExpertResults& results, std::int64_t batch) const {
  VERIFY(segment >= 1 && segment < segments() - 1);
  const auto before = static_cast<std::size_t>(segment) - 1;
  Mixed behind = mixed(asked, results, batch);
  return {ask(std::move(behind.stream), batch, asking_[before] + 1, asking_[before + 1]), behind.gate_loss};
}

at::Tensor Trunk::loss(const Asked& asked, const ExpertResults& results, const Batch& batch) const {
  const std::int64_t samples = batch.at(0).size(0);
  Mixed behind = mixed(asked, results, samples);
  return next_token_loss(scores_of(std::move(behind.stream), samples), batch) +
         (behind.gate_loss - behind.gate_loss.detach());
}

at::Tensor Trunk::scores(const Asked& asked, const ExpertResults& results, std::int64_t batch) const {
  return scores_of(mixed(asked, results, batch).stream, batch);
}

at::Tensor Trunk::scores_of(at::Tensor stream, std::int64_t batch) const {
  return parts_.token_scores(through_layers(std::move(stream), batch, asking_.back() + 1, parts_.model().layers));
}

}  // namespace starling::models
