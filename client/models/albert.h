// A bidirectional transformer whose blocks share one set of parameters and whose embeddings are factorised (Lan et al.,
// ALBERT, ICLR 2020). It predicts masked tokens, and whether two stretches of text were swapped. It follows the paper
// except that attention has no biases for query, key and value.
#pragma once

#include "client/models/model.h"
#include "client/models/parameters.h"

namespace starling::models {

class Albert final : public Model {
 public:
  Albert(const wire::ModelOptions& model, const at::Tensor& parameters, const at::Tensor& gradient);

  // Sum over the samples of the mean loss over a sample's masked tokens plus the loss of the order.
  [[nodiscard]] at::Tensor loss(const Batch& batch) const override;
  // Hits count masked tokens.
  [[nodiscard]] Judged judge(const Batch& batch) const override;

 private:
  // Returns [batch · context, width].
  [[nodiscard]] at::Tensor encode(const at::Tensor& tokens, const at::Tensor& segments) const;
  // Scores of the masked tokens: [batch · masked, vocabulary].
  [[nodiscard]] at::Tensor guess_scores(const at::Tensor& encoded, const Batch& batch) const;
  [[nodiscard]] at::Tensor guess_loss(const at::Tensor& scores, const at::Tensor& tokens) const;
  [[nodiscard]] at::Tensor order_loss(const at::Tensor& encoded, const at::Tensor& order) const;

  wire::ModelOptions model_;
  Parameters parameters_;
};

}  // namespace starling::models
