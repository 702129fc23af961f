#include "shared/base/shell_words.h"

#include <algorithm>

namespace starling {
namespace {

// Letters beyond ASCII, as bytes of UTF-8, mean nothing to a shell.
bool is_literal(char letter) {
  constexpr std::string_view kLiteral = "%+,-./:=@_";
  const auto byte = static_cast<unsigned char>(letter);
  const bool is_word = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
  return is_word || byte >= 0x80 || kLiteral.find(letter) != std::string_view::npos;
}

}  // namespace

std::string shell_word(std::string_view text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_literal)) return std::string(text);
  std::string word = "'";
  for (const char letter : text) word += letter == '\'' ? "'\\''" : std::string(1, letter);
  return word + "'";
}

}  // namespace starling
