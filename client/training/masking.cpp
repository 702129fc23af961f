#include "client/training/masking.h"

#include <utility>

#include "client/models/model.h"
#include "shared/base/permutation.h"
#include "shared/base/verify.h"
#include "shared/run/model_layout.h"

namespace starling::training {

namespace {

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(mix64(seed)) {}
  std::uint64_t below(std::size_t count) {
    state_ = mix64(state_);
    return state_ % count;
  }

 private:
  std::uint64_t state_;
};

struct Word {
  std::size_t begin = 0, end = 0;
};

// Start of the second stretch: a word's start in the middle half, if there is one.
std::size_t cut(std::span<const std::int64_t> text, const std::function<bool(std::int64_t)>& starts_word,
                Draws& draws) {
  const std::size_t quarter = text.size() / 4;
  const std::size_t wanted = 1 + quarter + draws.below(text.size() / 2);
  for (std::size_t at = wanted; at + 1 < text.size(); ++at) {
    if (starts_word(text[at])) return at;
  }
  return wanted;
}

// Runs of tokens that make a word; marks belong to none.
std::vector<Word> words_in(std::span<const std::int64_t> tokens, const std::function<bool(std::int64_t)>& starts_word) {
  std::vector<Word> words;
  bool within = false;
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    const bool is_text = tokens[at] >= wire::kReservedTokens;
    if (is_text && within && !starts_word(tokens[at])) {
      words.back().end = at + 1;
    } else if (is_text) {
      words.push_back({at, at + 1});
    }
    within = is_text;
  }
  return words;
}

}  // namespace

MaskedSample mask_words(const wire::ModelOptions& model, std::span<const std::int64_t> text,
                        const std::function<bool(std::int64_t token)>& starts_word, std::uint64_t seed) {
  VERIFY(static_cast<std::int64_t>(text.size()) == text_tokens(model) && model.context >= wire::kMaskedContextMin);
  Draws draws(seed);
  MaskedSample sample;
  const std::size_t at = cut(text, starts_word, draws);
  auto first = text.first(at), second = text.subspan(at);
  sample.swapped = draws.below(2) == 1;
  if (sample.swapped) std::swap(first, second);
  sample.tokens.push_back(wire::kSampleBegin);
  sample.tokens.insert(sample.tokens.end(), first.begin(), first.end());
  sample.tokens.push_back(wire::kStretchEnd);
  sample.segments.assign(sample.tokens.size(), 0);
  sample.tokens.insert(sample.tokens.end(), second.begin(), second.end());
  sample.tokens.push_back(wire::kStretchEnd);
  sample.segments.resize(sample.tokens.size(), 1);

  std::vector<Word> words = words_in(sample.tokens, starts_word);
  const auto most = static_cast<std::size_t>(wire::masked_tokens(model));
  for (std::size_t left = words.size(); left > 0 && sample.places.size() < most; --left) {
    std::swap(words[draws.below(left)], words[left - 1]);
    const Word word = words[left - 1];
    if (sample.places.size() + (word.end - word.begin) > most) continue;
    for (std::size_t place = word.begin; place < word.end; ++place) {
      sample.places.push_back(static_cast<std::int64_t>(place));
      sample.guesses.push_back(sample.tokens[place]);
      const std::uint64_t fate = draws.below(10);
      const auto any = static_cast<std::size_t>(model.vocabulary - wire::kReservedTokens);
      if (fate < 8) sample.tokens[place] = wire::kMask;
      if (fate == 8) sample.tokens[place] = wire::kReservedTokens + static_cast<std::int64_t>(draws.below(any));
    }
  }
  sample.places.resize(most, 0);
  sample.guesses.resize(most, models::kNoGuess);
  return sample;
}

}  // namespace starling::training
