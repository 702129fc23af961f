// What the small models of these tests learn: words in a fixed random order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shared/base/permutation.h"

namespace starling::golden {

inline std::vector<std::uint8_t> words(std::size_t count) {
  const std::vector<std::string> vocabulary = {"the ",  "star",    "ling ", "sings ",
                                               "over ", "water, ", "and ",  "flies.\n"};
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += vocabulary[mix64(7919 + i) % vocabulary.size()];
  return {text.begin(), text.end()};
}

}  // namespace starling::golden
