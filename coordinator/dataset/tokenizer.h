// Text to tokens and what is known of each: SentencePiece, with the marks of ALBERT (wire::kReservedTokens).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/dataset/text_reader.h"
#include "shared/base/result.h"

namespace starling::dataset {

constexpr std::size_t kTokenizerBytesMax = 64U << 20;
// Text that a vocabulary is learned from, at most; of more, every so many-th piece is taken.
constexpr std::int64_t kVocabularyTextBytesMax = 32 << 20;

// Learns `vocabulary` tokens from the text, with so many threads; the reader is at its end afterwards. The model's
// bytes, which are what SentencePiece's own programs read. invalid_argument when there is too little text.
Result<std::string> learn_vocabulary(TextReader& text, int vocabulary, int threads);

class Tokenizer {
 public:
  // invalid_argument for bytes that are no SentencePiece model, or one whose first tokens are not padding, unknown,
  // begin, end and mask.
  static Result<Tokenizer> from_model(std::string_view model);
  Tokenizer(Tokenizer&& other) noexcept;
  Tokenizer& operator=(Tokenizer&&) = delete;
  ~Tokenizer();

  [[nodiscard]] int vocabulary() const;
  // Replaces `tokens`.
  Status encode(std::string_view text, std::vector<int>& tokens) const;
  // Of each token: whether it begins a word; how many bytes of text it stands for.
  [[nodiscard]] std::vector<std::uint8_t> word_starts() const;
  [[nodiscard]] std::vector<std::uint8_t> word_bytes() const;

 private:
  struct Impl;
  explicit Tokenizer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace starling::dataset
