// What a model that guesses words is shown of a stretch of text.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "shared/wire/model_options.h"

namespace starling::training {

struct MaskedSample {
  std::vector<std::int64_t> words;     // context tokens: begin, one stretch, its end, the other, its end
  std::vector<std::int64_t> segments;  // of each: 0 for the first stretch, 1 for the second
  std::vector<std::int64_t> places;    // masked_words(model) of them; 0 behind the last that is guessed
  std::vector<std::int64_t> guesses;   // the tokens that stood there; kNoGuess behind the last
  bool swapped = false;                // the second stretch came first in the text
};

// Tokens of text in a sample; the others are marks.
inline std::int64_t text_words(const wire::ModelOptions& model) { return model.context - 3; }

// Cuts `text` (text_words tokens) in two at a word's begin, swaps the halves half of the time, and leaves out whole
// words, as many as fit masked_words(model) tokens: of their tokens 8 of 10 become the mask, one a random token, and
// one stays. The same for the same `seed`.
MaskedSample mask_words(const wire::ModelOptions& model, std::span<const std::int64_t> text,
                        const std::function<bool(std::int64_t token)>& starts_word, std::uint64_t seed);

}  // namespace starling::training
