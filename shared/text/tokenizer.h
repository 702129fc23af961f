// Text to tokens and back, and properties of each token: SentencePiece, with the marks of ALBERT
// (wire::kReservedTokens). LibTorch's protobuf and SentencePiece's conflict: never link both into one process.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/result.h"

namespace starling::text {

class Tokenizer {
 public:
  // invalid_argument for bytes that are no SentencePiece model, or for a model whose first tokens are not padding,
  // unknown, begin, end and another mark. See has_mask().
  static Result<Tokenizer> from_model(std::string_view model);
  Tokenizer(Tokenizer&& other) noexcept;
  Tokenizer& operator=(Tokenizer&&) = delete;
  ~Tokenizer();

  [[nodiscard]] int vocabulary() const;
  // The model's spelling of a token of the vocabulary: "[CLS]", "▁the".
  [[nodiscard]] std::string piece(int token) const;
  // Whether token 4 is a mask by its spelling: "[MASK]", "<mask>". Models that guess left-out words need one.
  [[nodiscard]] bool has_mask() const;
  // Replaces `tokens`.
  Status encode(std::string_view text, std::vector<int>& tokens) const;
  // The stretches of the text that unknown tokens stand for, in their order.
  [[nodiscard]] std::vector<std::string> unknown_parts(std::string_view text) const;
  // Marks, and numbers that are no token of this vocabulary, stand for no text.
  [[nodiscard]] Result<std::string> decode(std::span<const int> tokens) const;
  // For each token: word_starts() says whether it begins a word, word_bytes() how many bytes of text it stands for.
  [[nodiscard]] std::vector<std::uint8_t> word_starts() const;
  [[nodiscard]] std::vector<std::uint8_t> word_bytes() const;

 private:
  struct Impl;
  explicit Tokenizer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace starling::text
