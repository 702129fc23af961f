#include "client/models/experts.h"

#include <ATen/ATen.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <cmath>
#include <vector>

#include "shared/run/model_layout.h"

namespace starling::models {
namespace {

// Tokens in the order of their experts: a token stands as often as it has experts.
struct Dispatch {
  at::Tensor places;                 // in the flattened choice, [tokens · active]
  at::Tensor tokens;                 // likewise
  std::vector<std::int32_t> counts;  // by expert
};

Dispatch dispatch(const Choice& choice, std::int64_t experts) {
  const at::Tensor chosen = choice.experts.reshape({-1});
  const at::Tensor counts = at::bincount(chosen, {}, experts).cpu();
  const at::Tensor places = at::argsort(chosen, /*stable=*/true, /*dim=*/0, /*descending=*/false);
  const auto* const data = counts.data_ptr<std::int64_t>();
  return {places, at::floor_divide(places, choice.experts.size(1)), {data, data + experts}};
}

}  // namespace

at::Tensor gate_outputs(const wire::ModelOptions& model, const Parameters& parameters, const at::Tensor& x,
                        const std::string& block) {
  const c10::impl::ExcludeDispatchKeyGuard whole_precision(c10::autocast_dispatch_keyset);
  const at::Tensor rows = parameters.product(x, block + "gate_rows");
  if (model.experts.columns == 1) return rows;
  return at::cat({rows, parameters.product(x, block + "gate_columns")}, 1);
}

at::Tensor expert_scores(const wire::ModelOptions& model, const at::Tensor& outputs) {
  if (model.experts.columns == 1) return outputs;
  const at::Tensor rows = outputs.narrow(1, 0, model.experts.rows);
  const at::Tensor columns = outputs.narrow(1, model.experts.rows, model.experts.columns);
  return (rows.unsqueeze(2) + columns.unsqueeze(1)).view({outputs.size(0), -1});
}

Choice choose_experts(const at::Tensor& scores, int active) {
  const auto [best, experts] = at::topk(scores, active, 1);
  return {experts, at::softmax(best, 1)};
}

Choice choice_of(const at::Tensor& scores, const at::Tensor& experts) {
  const at::Tensor missing = experts.lt(0);
  const at::Tensor chosen = scores.gather(1, experts.clamp_min(0));
  // A token without any expert has shares of 0, and no gradient.
  const at::Tensor shares = at::softmax(chosen.masked_fill(missing & missing.logical_not().any(1, true), -INFINITY), 1);
  return {experts, shares.masked_fill(missing, 0)};
}

at::Tensor expert_results(const Parameters& parameters, const at::Tensor& inputs, std::span<const std::int32_t> counts,
                          int layer, int first) {
  std::vector<at::Tensor> results;
  std::int64_t begin = 0;
  for (std::size_t expert = 0; expert < counts.size(); ++expert) {
    if (counts[expert] == 0) continue;
    const std::string name = wire::expert_name(layer, first + static_cast<int>(expert));
    results.push_back(parameters.gated_perceptron(inputs.narrow(0, begin, counts[expert]), name));
    begin += counts[expert];
  }
  return results.empty() ? inputs : at::cat(results);
}

at::Tensor mixture(const Choice& choice, const at::Tensor& places, const at::Tensor& results, const at::Tensor& like) {
  const at::Tensor shares = choice.shares.reshape({-1, 1}).index_select(0, places);
  const at::Tensor tokens = at::floor_divide(places, choice.experts.size(1));
  return at::zeros_like(like).index_add(0, tokens, (results * shares).to(like.scalar_type()));
}

at::Tensor mix_experts(const wire::ModelOptions& model, const Parameters& parameters, const at::Tensor& x,
                       const Choice& choice, int layer) {
  const Dispatch sent = dispatch(choice, wire::experts_in_layer(model));
  const at::Tensor results = expert_results(parameters, x.index_select(0, sent.tokens), sent.counts, layer, 0);
  return mixture(choice, sent.places, results, x);
}

at::Tensor gate_loss(const wire::ModelOptions& model, const at::Tensor& scores, const Choice& choice,
                     std::int64_t samples) {
  const std::int64_t experts = scores.size(1);
  const at::Tensor by_sample = scores.view({samples, -1, experts});
  const at::Tensor is_chosen = choice.experts.ge(0).to(scores.scalar_type()).unsqueeze(2);
  const at::Tensor chosen = at::one_hot(choice.experts.clamp_min(0), experts) * is_chosen;
  const at::Tensor load = chosen.view({samples, -1, experts}).mean(1);
  const at::Tensor likely = at::softmax(by_sample, 2).mean(1);
  const at::Tensor uneven = static_cast<double>(experts) * (load * likely).sum();
  const at::Tensor large = at::logsumexp(by_sample, {2}).square().mean(1).sum();
  return model.experts.load_loss * uneven + model.experts.z_loss * large;
}

}  // namespace starling::models
