#include "client/training/masking.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "client/models/model.h"
#include "shared/base/permutation.h"
#include "shared/run/model_layout.h"

using namespace starling;
using namespace starling::training;

namespace {

wire::ModelOptions masked_model() {
  wire::ModelOptions model;
  model.architecture = wire::Architecture::albert;
  model.context = 64;
  model.vocabulary = 1000;
  model.masked = 0.15;
  return model;
}

bool starts_word(std::int64_t token) { return token % 3 == 0; }

std::vector<std::int64_t> text_of(std::uint64_t seed) {
  std::vector<std::int64_t> text(static_cast<std::size_t>(text_tokens(masked_model())));
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = 5 + static_cast<std::int64_t>(mix64(seed * 99 + i) % 995);
  return text;
}

// The text that the sample was made from.
std::vector<std::int64_t> undone(MaskedSample sample) {
  for (std::size_t i = 0; i < sample.places.size() && sample.guesses[i] != models::kNoGuess; ++i) {
    sample.tokens[static_cast<std::size_t>(sample.places[i])] = sample.guesses[i];
  }
  const auto second = std::find(sample.segments.begin(), sample.segments.end(), 1) - sample.segments.begin();
  std::vector<std::int64_t> first_words(sample.tokens.begin() + 1, sample.tokens.begin() + second - 1);
  std::vector<std::int64_t> second_words(sample.tokens.begin() + second, sample.tokens.end() - 1);
  if (sample.swapped) std::swap(first_words, second_words);
  first_words.insert(first_words.end(), second_words.begin(), second_words.end());
  return first_words;
}

}  // namespace

TEST_CASE("a sample is its text with marks around two stretches, about half of the time the wrong way round") {
  int swapped = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const MaskedSample sample = mask_words(masked_model(), text_of(seed), starts_word, seed);
    REQUIRE(sample.tokens.size() == 64);
    CHECK(sample.tokens.front() == wire::kSampleBegin);
    CHECK(sample.tokens.back() == wire::kStretchEnd);
    CHECK(std::is_sorted(sample.segments.begin(), sample.segments.end()));
    CHECK(undone(sample) == text_of(seed));
    swapped += sample.swapped ? 1 : 0;
  }
  CHECK(swapped > 60);
  CHECK(swapped < 140);
}

TEST_CASE("whole words are left out, as many tokens as asked for at most, and mostly masked") {
  std::map<bool, int> masked;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const MaskedSample sample = mask_words(masked_model(), text_of(seed), starts_word, seed);
    REQUIRE(sample.places.size() == 10);  // 0.15 · 64, rounded
    MaskedSample whole = sample;
    std::vector<bool> guessed(64, false);
    for (std::size_t i = 0; i < sample.places.size() && sample.guesses[i] != models::kNoGuess; ++i) {
      const auto place = static_cast<std::size_t>(sample.places[i]);
      CHECK_FALSE(guessed[place]);
      guessed[place] = true;
      ++masked[sample.tokens[place] == wire::kMask];
      whole.tokens[place] = sample.guesses[i];
    }
    for (std::size_t at = 2; at < 64; ++at) {
      const bool inside = whole.tokens[at] >= wire::kReservedTokens && whole.tokens[at - 1] >= wire::kReservedTokens &&
                          whole.segments[at] == whole.segments[at - 1] && !starts_word(whole.tokens[at]);
      if (inside) CHECK(guessed[at] == guessed[at - 1]);
    }
  }
  CHECK(masked[true] + masked[false] > 1500);
  CHECK(masked[true] > 3 * masked[false]);
  CHECK(masked[true] < 5 * masked[false]);
}

TEST_CASE("the same seed leaves out the same words, another one others") {
  const auto places = [](std::uint64_t seed) {
    return mask_words(masked_model(), text_of(1), starts_word, seed).places;
  };
  CHECK(places(1) == places(1));
  CHECK(places(1) != places(2));
}
