// A causal transformer in the shape of Llama (Touvron et al., arXiv 2302.13971): root-mean-square norms before each
// part of a block, rotary positions, grouped-query attention, perceptrons with a gate (SwiGLU, Shazeer, arXiv
// 2002.05202), and no biases. Or in that of Mixtral: some blocks have experts (experts.h) in the perceptron's place.
#pragma once

#include "client/models/decoder_parts.h"
#include "client/models/model.h"

namespace starling::models {

class Decoder final : public Model {
 public:
  Decoder(const wire::ModelOptions& model, const at::Tensor& parameters, const at::Tensor& gradient);

  // The value is the loss of the predictions; its gradient is also that of the gates' own losses (gate_loss).
  [[nodiscard]] at::Tensor loss(const Batch& batch) const override;
  [[nodiscard]] at::Tensor next_token_scores(const at::Tensor& tokens) const override;

 private:
  struct Forward {
    at::Tensor scores;
    at::Tensor gate_loss;  // undefined: there are no experts
  };
  [[nodiscard]] Forward forward(const at::Tensor& tokens) const;

  DecoderParts parts_;
};

}  // namespace starling::models
