// Fully connected layers with rectifiers between them.
#pragma once

#include "client/models/model.h"
#include "client/models/parameters.h"

namespace starling::models {

class Mlp final : public Model {
 public:
  Mlp(const wire::ModelOptions& model, const at::Tensor& parameters, const at::Tensor& gradient);

  [[nodiscard]] at::Tensor loss(const Batch& batch) const override;
  [[nodiscard]] Judged judge(const Batch& batch) const override;

 private:
  // Scores of the classes: [batch, classes].
  [[nodiscard]] at::Tensor scores(const Batch& batch) const;
  wire::ModelOptions model_;
  Parameters parameters_;
};

}  // namespace starling::models
