// A residual network for images (He et al. 2016), of 18 or 50 layers. Norms are over groups of channels (Wu and He
// 2018): norms over a batch would make gradients depend on which samples one volunteer computes together, and keep
// averages that volunteers do not agree on.
#pragma once

#include "client/models/model.h"
#include "client/models/parameters.h"
#include "shared/run/model_layout.h"

namespace starling::models {

class Resnet final : public Model {
 public:
  Resnet(const wire::ModelOptions& model, const at::Tensor& parameters, const at::Tensor& gradient);

  [[nodiscard]] at::Tensor loss(const Batch& batch) const override;
  [[nodiscard]] Judged judge(const Batch& batch) const override;

 private:
  // Scores of the classes: [batch, classes].
  [[nodiscard]] at::Tensor scores(const Batch& batch) const;
  // Applies a convolution and the norm after it.
  [[nodiscard]] at::Tensor convolve(const at::Tensor& x, const wire::Convolution& convolution) const;
  // Applies all blocks from the convolution `next` on.
  [[nodiscard]] at::Tensor blocks(at::Tensor x, std::size_t next) const;

  wire::ModelOptions model_;
  std::vector<wire::Convolution> convolutions_;
  Parameters parameters_;
};

}  // namespace starling::models
