// A transformer that sees both ways, whose blocks share one set of parameters and whose embeddings are factorised
// (Lan et al., ALBERT, ICLR 2020). It guesses words that were left out, and whether two stretches of text were
// swapped. As published but for the attention's query, key and value biases, which it does without.
#pragma once

#include "client/models/model.h"
#include "client/models/parameters.h"

namespace starling::models {

class Albert final : public Model {
 public:
  Albert(const wire::ModelOptions& model, const at::Tensor& parameters, const at::Tensor& gradient);

  // Of each sample, the mean over the words it has to guess, and the order's on top.
  [[nodiscard]] at::Tensor loss(const Batch& batch) const override;
  // Hits are of words that were left out.
  [[nodiscard]] Judged judge(const Batch& batch) const override;

 private:
  // [batch · context, width]
  [[nodiscard]] at::Tensor encode(const at::Tensor& words, const at::Tensor& segments) const;
  // Of the words that were left out: [batch · masked, vocabulary]
  [[nodiscard]] at::Tensor guess_scores(const at::Tensor& encoded, const Batch& batch) const;
  [[nodiscard]] at::Tensor guess_loss(const at::Tensor& scores, const at::Tensor& words) const;
  [[nodiscard]] at::Tensor order_loss(const at::Tensor& encoded, const at::Tensor& order) const;

  wire::ModelOptions model_;
  Parameters parameters_;
};

}  // namespace starling::models
