// Enums whose values stand in texts as words. Each has a table beside it, words_of(value), with the words of its values
// in their order, which counts from 0.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace starling {

template <typename T>
concept WordEnum = std::is_enum_v<T> && requires(T value) {
  words_of(value);
};

template <WordEnum Word>
std::string_view word_of(Word value) {
  return words_of(value)[static_cast<std::size_t>(value)];
}

// Returns nothing for text that is none of the enum's words.
template <WordEnum Word>
std::optional<Word> from_word(std::string_view text) {
  const std::span<const std::string_view> words = words_of(Word{});
  const auto found = std::find(words.begin(), words.end(), text);
  if (found == words.end()) return std::nullopt;
  return static_cast<Word>(found - words.begin());
}

// All values, in their order.
template <WordEnum Word>
std::vector<Word> all_values() {
  std::vector<Word> all;
  for (std::size_t i = 0; i < words_of(Word{}).size(); ++i) all.push_back(static_cast<Word>(i));
  return all;
}

// "'a', 'b' or 'c'"
std::string in_quotes(std::span<const std::string_view> words);
template <WordEnum Word>
std::string allowed_words() {
  return in_quotes(words_of(Word{}));
}
// A refusal of a word: "is 'd'; it must be 'a', 'b' or 'c'".
std::string no_word(std::string_view text, std::string_view allowed);

}  // namespace starling
