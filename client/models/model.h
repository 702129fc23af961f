// What every model can do, whatever it is made of.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "shared/wire/model_options.h"

namespace starling::models {

// The tensors of a micro-batch, by what a sample is (wire::SampleForm):
//   next_word     words [batch, length] and their targets, shaped alike
//   masked_words  words [batch, context]; segments, 0 or 1, shaped alike; places [batch, masked] in the flattened
//                 words; the words to guess there, shaped alike, kNoGuess: none; order [batch], 1: the wrong way round
//   labelled      values (float) [batch, …] and classes [batch]
using Batch = std::vector<at::Tensor>;
constexpr std::int64_t kNoGuess = -100;

// Of what a batch has to predict: how much there is, and of how much the truth is what the model holds likeliest.
struct Hits {
  std::int64_t predictions = 0;
  std::int64_t right = 0;
};
// scores [n, classes] of targets [n]; those that are kNoGuess do not count.
Hits hits_of(const at::Tensor& scores, const at::Tensor& targets);

// Nats, summed: scores [n, classes] of targets [n].
at::Tensor class_loss(const at::Tensor& scores, const at::Tensor& targets);

struct Judged {
  at::Tensor loss;  // as Model::loss
  Hits hits;        // nothing for a model that tells its loss only
};

class Model {
 public:
  virtual ~Model() = default;

  // Nats, summed over the batch's samples: of each, the mean over what it has to predict.
  [[nodiscard]] virtual at::Tensor loss(const Batch& batch) const = 0;

  // The same, and how much of it was right.
  [[nodiscard]] virtual Judged judge(const Batch& batch) const;

  // Scores of the next word at every position: words [batch, length <= context] of integers to [batch · length,
  // vocabulary]. Undefined for a model that predicts no next words.
  [[nodiscard]] virtual at::Tensor next_word_scores(const at::Tensor& words) const;

  // Whether it computes as for training (at first) or as for being judged: then nothing is left to chance.
  virtual void set_training(bool) {}
};

// `parameters` and `gradient` as for Parameters, which the model keeps views of. `program`: the file of a script. That
// is somebody else's code: LibTorch throws whatever it finds wrong with it, and loads it only where it can do no harm.
std::unique_ptr<Model> make_model(const wire::ModelOptions& model, const at::Tensor& parameters,
                                  const at::Tensor& gradient, std::span<const std::uint8_t> program = {});

}  // namespace starling::models
