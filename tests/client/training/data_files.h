// Data files of the kinds that a manifest knows, made by the tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "shared/base/permutation.h"
#include "shared/wire/safetensors.h"

namespace starling::training::testing {

using Bytes = std::vector<std::uint8_t>;

template <typename Number>
Bytes bytes_of(const std::vector<Number>& values) {
  Bytes bytes(values.size() * sizeof(Number));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

inline Bytes tensor_file(std::vector<std::pair<wire::TensorInfo, Bytes>> tensors) {
  std::vector<wire::TensorInfo> infos;
  for (const auto& tensor : tensors) infos.push_back(tensor.first);
  const std::string head = wire::encode_tensor_head(infos);
  Bytes file(head.begin(), head.end());
  for (const auto& tensor : tensors) file.insert(file.end(), tensor.second.begin(), tensor.second.end());
  return file;
}

// Tokens 5 to 28 in pairs: an odd token, which begins a word, is followed by the next even one. The words follow each
// other at random, or in order.
inline Bytes paired_tokens(std::size_t pairs, bool in_order = false) {
  std::vector<std::uint16_t> tokens;
  for (std::size_t i = 0; i < pairs; ++i) {
    const auto word = static_cast<std::uint16_t>(5 + 2 * ((in_order ? i : mix64(i)) % 12));
    tokens.push_back(word);
    tokens.push_back(static_cast<std::uint16_t>(word + 1));
  }
  Bytes starts(30, 1), lengths(30, 2);
  for (std::size_t token = 6; token < 30; token += 2) starts[token] = 0;
  return tensor_file({{{"tokens", wire::TensorType::u16, {static_cast<std::int64_t>(tokens.size())}}, bytes_of(tokens)},
                      {{"word_starts", wire::TensorType::u8, {30}}, starts},
                      {{"word_bytes", wire::TensorType::u8, {30}}, lengths}});
}

// Images of 3 channels whose brighter half is their class: 0 the upper half, 1 the lower.
inline Bytes two_kinds_of_images(std::int64_t count, std::int64_t size) {
  Bytes pixels;
  std::vector<std::int32_t> labels;
  for (std::int64_t i = 0; i < count; ++i) {
    const bool lower = mix64(static_cast<std::uint64_t>(i)) % 2 == 1;
    labels.push_back(lower ? 1 : 0);
    for (std::int64_t at = 0; at < 3 * size * size; ++at) {
      const bool bright = (at % (size * size) >= size * size / 2) == lower;
      pixels.push_back(
          static_cast<std::uint8_t>((bright ? 120 : 40) + mix64(static_cast<std::uint64_t>(i << 20 | at)) % 90));
    }
  }
  return tensor_file({{{"inputs", wire::TensorType::u8, {count, 3, size, size}}, pixels},
                      {{"labels", wire::TensorType::i32, {count}}, bytes_of(labels)}});
}

}  // namespace starling::training::testing
