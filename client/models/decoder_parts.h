// The parts that a decoder's blocks consist of. The whole model (decoder.h) and the trunk of one whose experts are
// somewhere else (trunk.h) are put together from them.
#pragma once

#include <string>

#include "client/models/attention.h"
#include "client/models/parameters.h"
#include "shared/run/model_options.h"

namespace starling::models {

class DecoderParts {
 public:
  DecoderParts(const wire::ModelOptions& model, Parameters parameters);

  [[nodiscard]] const wire::ModelOptions& model() const { return model_; }
  [[nodiscard]] const Parameters& parameters() const { return parameters_; }

  // "block2."
  static std::string block(int layer);
  // tokens [batch, length <= context] to [batch · length, width].
  [[nodiscard]] at::Tensor embedded(const at::Tensor& tokens) const;
  // x [batch · length, width] plus what the layer's attention makes of it.
  [[nodiscard]] at::Tensor with_attention(const at::Tensor& x, std::int64_t batch, int layer) const;
  // The input of the layer's perceptron or experts.
  [[nodiscard]] at::Tensor normalised(const at::Tensor& x, int layer) const;
  // Its input to the perceptron's output, which is added to x.
  [[nodiscard]] at::Tensor perceptron(const at::Tensor& x, int layer) const;
  // The last block's x to the next tokens' scores, [batch · length, vocabulary].
  [[nodiscard]] at::Tensor token_scores(const at::Tensor& x) const;

 private:
  wire::ModelOptions model_;
  HeadCounts heads_;
  Parameters parameters_;
};

}  // namespace starling::models
