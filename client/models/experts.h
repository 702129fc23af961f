// A layer of experts in the place of a block's perceptron: each token goes through those few of them whose scores by
// the gate are the highest, and the results are mixed by the softmax of these scores (Mixtral, Jiang et al., arXiv
// 2401.04088). Experts stand on a grid, and an expert's score is the sum of its row's and its column's (product keys,
// Lample et al., arXiv 1907.05242), so a gate has rows + columns outputs for rows · columns experts.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>

#include "client/models/parameters.h"
#include "shared/run/model_options.h"

namespace starling::models {

// The experts of some tokens, and the shares with which their results are mixed: each [tokens, active].
struct Choice {
  at::Tensor experts;  // integers (kLong), the best one first; below 0: none
  at::Tensor shares;   // each row adds up to 1, if the token has an expert; 0 for none
};

// A layer's gate: x [tokens, width] to the scores of its grid's rows and then of its columns, where there are several,
// [tokens, rows + columns], computed in single precision at least. `block`: the prefix of the layer's parameters.
at::Tensor gate_outputs(const wire::ModelOptions& model, const Parameters& parameters, const at::Tensor& x,
                        const std::string& block);
// Those to the scores of all experts, [tokens, experts].
at::Tensor expert_scores(const wire::ModelOptions& model, const at::Tensor& outputs);
Choice choose_experts(const at::Tensor& scores, int active);
// The choice of these experts, [tokens, active], which others have chosen.
Choice choice_of(const at::Tensor& scores, const at::Tensor& experts);
// inputs [units, width], those of each expert behind those of the one before, to the results of the same shape.
// counts: inputs, by expert of the layer from `first` on.
at::Tensor expert_results(const Parameters& parameters, const at::Tensor& inputs, std::span<const std::int32_t> counts,
                          int layer, int first);
// The mixture [tokens, width], in the type of `like`, of results [units, width]. places: each result's in the flattened
// choice.
at::Tensor mixture(const Choice& choice, const at::Tensor& places, const at::Tensor& results, const at::Tensor& like);
// x [tokens, width] to the mixture of the chosen experts' results, of the same shape. `layer`: the block's number.
at::Tensor mix_experts(const wire::ModelOptions& model, const Parameters& parameters, const at::Tensor& x,
                       const Choice& choice, int layer);

// A gate's own loss for a sample, summed over samples: load_loss times the sum over experts of (share of the
// sample's tokens that it gets) · (mean softmax of its score), times the number of experts, which is 1 where the load
// is even (Fedus et al., Switch Transformers, arXiv 2101.03961, over each sample by itself, so that a sample's gradient
// does not depend on its batch); and z_loss times the mean square of the logarithm of the summed exponentials of scores
// (Zoph et al., ST-MoE, arXiv 2202.08906).
at::Tensor gate_loss(const wire::ModelOptions& model, const at::Tensor& scores, const Choice& choice,
                     std::int64_t samples);

}  // namespace starling::models
