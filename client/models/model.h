// The interface of every model.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "shared/run/model_options.h"

namespace starling::models {

// The tensors of a micro-batch, by the form of a sample (wire::SampleForm):
//   next_token    tokens [batch, length] and their targets, of the same shape
//   masked_tokens tokens [batch, context]; segments, 0 or 1, of the same shape; places [batch, masked] in the flattened
//                 tokens; the tokens to predict there, of the same shape, kNoGuess: none; order [batch], 1: swapped
//   labelled      values (float) [batch, …] and classes [batch]
using Batch = std::vector<at::Tensor>;
constexpr std::int64_t kNoGuess = -100;

// Number of a batch's predictions, and how many of them are right: the model's likeliest value is the true one.
struct Hits {
  std::int64_t predictions = 0;
  std::int64_t right = 0;
};
// Hits of scores [n, classes] against targets [n]; targets of kNoGuess do not count.
Hits hits_of(const at::Tensor& scores, const at::Tensor& targets);

// Cross entropy in nats, summed: scores [n, classes], targets [n].
at::Tensor class_loss(const at::Tensor& scores, const at::Tensor& targets);

// A forward pass over a batch of held-out samples.
struct Judged {
  at::Tensor loss;  // the value of Model::loss
  Hits hits;        // zeros for a model that gives only its loss
};

class Model {
 public:
  virtual ~Model() = default;

  // Loss in nats, summed over the batch's samples: for each, the mean over its predictions.
  [[nodiscard]] virtual at::Tensor loss(const Batch& batch) const = 0;

  // The loss and the hits.
  [[nodiscard]] virtual Judged judge(const Batch& batch) const;

  // Scores of the next token at every position: tokens [batch, length <= context] of integers to [batch · length,
  // vocabulary]. Undefined for a model that predicts no next tokens.
  [[nodiscard]] virtual at::Tensor next_token_scores(const at::Tensor& tokens) const;

  // An operator by which the loss depends on random numbers that fall otherwise when a batch is computed in other
  // pieces: gradients cannot be computed again by others. Empty: there is none.
  [[nodiscard]] virtual std::string random_operator() const { return ""; }

  // Selects training (the initial mode) or evaluation, in which nothing is random.
  virtual void set_training(bool) {}
};

// Model::loss of a model that predicts next tokens, by its scores.
at::Tensor next_token_loss(const at::Tensor& scores, const Batch& batch);

// `parameters` and `gradient` as for Parameters; the model keeps views of them. `program` is the file of a script. A
// script is a stranger's code: LibTorch throws on any fault in it, and it may be loaded only inside the sandbox.
std::unique_ptr<Model> make_model(const wire::ModelOptions& model, const at::Tensor& parameters,
                                  const at::Tensor& gradient, std::span<const std::uint8_t> program = {});

}  // namespace starling::models
