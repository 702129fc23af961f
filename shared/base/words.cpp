#include "shared/base/words.h"

#include <fmt/format.h>

namespace starling {

std::string in_quotes(std::span<const std::string_view> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += fmt::format("{}'{}'", i == 0 ? "" : i + 1 == words.size() ? " or " : ", ", words[i]);
  }
  return text;
}

std::string no_word(std::string_view text, std::string_view allowed) {
  return fmt::format("is '{}'; it must be {}", text, allowed);
}

}  // namespace starling
