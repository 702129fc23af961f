// The tokens of a run whose data are bytes are the bytes' values. In a run whose data are tokens only its tokenizer
// (client/tokenizer) knows their text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace starling::session {

inline std::vector<int> tokens_of_bytes(std::string_view text) {
  std::vector<int> tokens;
  tokens.reserve(text.size());
  for (const char byte : text) tokens.push_back(static_cast<std::uint8_t>(byte));
  return tokens;
}

inline std::string bytes_of_tokens(std::span<const int> tokens) {
  std::string text;
  text.reserve(tokens.size());
  for (const int token : tokens) text.push_back(static_cast<char>(token));
  return text;
}

}  // namespace starling::session
