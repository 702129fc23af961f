// The tokens of a run whose data are bytes are the bytes' values. In a run whose data are tokens only its tokenizer
// (client/tokenizer) knows their text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace starling::session {

inline std::vector<int> words_of_bytes(std::string_view text) {
  std::vector<int> words;
  words.reserve(text.size());
  for (const char byte : text) words.push_back(static_cast<std::uint8_t>(byte));
  return words;
}

inline std::string bytes_of_words(std::span<const int> words) {
  std::string text;
  text.reserve(words.size());
  for (const int word : words) text.push_back(static_cast<char>(word));
  return text;
}

}  // namespace starling::session
