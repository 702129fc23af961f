#include "client/models/mlp.h"

#include <ATen/ATen.h>

namespace starling::models {

Mlp::Mlp(const wire::ModelOptions& model, const at::Tensor& parameters, const at::Tensor& gradient)
    : model_(model), parameters_(model, parameters, gradient) {}

at::Tensor Mlp::scores(const Batch& batch) const {
  at::Tensor x = batch.at(0).reshape({-1, model_.inputs});
  for (int layer = 0; layer < model_.layers; ++layer) {
    x = at::relu(parameters_.linear(x, "layer" + std::to_string(layer)));
  }
  return parameters_.linear(x, "classes");
}

at::Tensor Mlp::loss(const Batch& batch) const { return class_loss(scores(batch), batch.at(1)); }

Judged Mlp::judge(const Batch& batch) const {
  const at::Tensor judged = scores(batch);
  return {class_loss(judged, batch.at(1)), hits_of(judged, batch.at(1))};
}

}  // namespace starling::models
