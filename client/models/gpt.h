// A pre-norm causal transformer. Its perceptrons square the rectifier's output (So et al., Primer, NeurIPS 2021), which
// learns faster than GELU here and costs less; GELU is available for models that other programs should open.
#pragma once

#include "client/models/model.h"
#include "client/models/parameters.h"

namespace starling::models {

class Gpt final : public Model {
 public:
  Gpt(const wire::ModelOptions& model, const at::Tensor& parameters, const at::Tensor& gradient);

  [[nodiscard]] at::Tensor loss(const Batch& batch) const override;
  [[nodiscard]] at::Tensor next_token_scores(const at::Tensor& tokens) const override;

 private:
  [[nodiscard]] at::Tensor embed(const at::Tensor& tokens) const;
  [[nodiscard]] at::Tensor activation(const at::Tensor& x) const;

  wire::ModelOptions model_;
  Parameters parameters_;
};

}  // namespace starling::models
