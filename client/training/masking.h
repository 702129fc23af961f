// Samples for a model that predicts masked tokens.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "shared/run/model_options.h"

namespace starling::training {

struct MaskedSample {
  std::vector<std::int64_t> tokens;  // `context` tokens: begin mark, one stretch, end mark, the other stretch, end mark
  std::vector<std::int64_t> segments;  // one per token: 0 for the first stretch, 1 for the second
  std::vector<std::int64_t> places;    // masked_tokens(model) places; 0 after the last that is predicted
  std::vector<std::int64_t> guesses;   // the original tokens there; kNoGuess after the last
  bool swapped = false;                // the second stretch came first in the text
};

// Tokens of text in a sample; the others are marks.
inline std::int64_t text_tokens(const wire::ModelOptions& model) { return model.context - 3; }

// Cuts `text` (text_tokens tokens) in two at a word's start, swaps the halves half of the time, and masks whole words,
// up to masked_tokens(model) tokens: 8 of 10 of their tokens become the mask, one a random token, and one stays.
// Depends only on its arguments, including `seed`.
MaskedSample mask_words(const wire::ModelOptions& model, std::span<const std::int64_t> text,
                        const std::function<bool(std::int64_t token)>& starts_word, std::uint64_t seed);

}  // namespace starling::training
