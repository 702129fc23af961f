// Training text for the small models of these tests: words in a fixed random order.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "shared/base/permutation.h"
#include "shared/wire/safetensors.h"

namespace starling::golden {

inline std::vector<std::uint8_t> words(std::size_t count) {
  const std::vector<std::string> vocabulary = {"the ",  "star",    "ling ", "sings ",
                                               "over ", "water, ", "and ",  "flies.\n"};
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += vocabulary[mix64(7919 + i) % vocabulary.size()];
  return {text.begin(), text.end()};
}

// Training text as tokens: each word is two of them, and the first begins it.
constexpr int kTokens = 30;
inline std::vector<std::uint8_t> tokens(std::size_t count) {
  std::vector<std::uint16_t> values;
  for (std::size_t i = 0; i < count; ++i) {
    const auto word = static_cast<std::uint16_t>(5 + 2 * (mix64(i) % 12));
    values.insert(values.end(), {word, static_cast<std::uint16_t>(word + 1)});
  }
  std::vector<std::uint8_t> starts(kTokens, 1), lengths(kTokens, 2);
  for (std::size_t token = 6; token < kTokens; token += 2) starts[token] = 0;
  std::vector<wire::TensorInfo> tensors = {
      {"tokens", wire::TensorType::u16, {static_cast<std::int64_t>(values.size())}},
      {"word_starts", wire::TensorType::u8, {kTokens}},
      {"word_bytes", wire::TensorType::u8, {kTokens}}};
  const std::string head = wire::encode_tensor_head(tensors);
  std::vector<std::uint8_t> file(head.begin(), head.end());
  const std::size_t at = file.size();
  file.resize(at + values.size() * sizeof(std::uint16_t));
  std::memcpy(file.data() + at, values.data(), values.size() * sizeof(std::uint16_t));
  file.insert(file.end(), starts.begin(), starts.end());
  file.insert(file.end(), lengths.begin(), lengths.end());
  return file;
}

}  // namespace starling::golden
