#include "shared/wire/fields.h"

namespace starling::wire::fields {

std::size_t index_of(std::span<const std::string_view> words, std::string_view word) {
  return static_cast<std::size_t>(std::find(words.begin(), words.end(), word) - words.begin());
}

}  // namespace starling::wire::fields
