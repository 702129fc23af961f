// A SentencePiece vocabulary learned from text, with the marks that text::Tokenizer requires.
#pragma once

#include <cstdint>
#include <string>

#include "coordinator/dataset/text_reader.h"
#include "shared/base/result.h"

namespace starling::dataset {

// Bytes of text from which a vocabulary is learned. A longer text has pieces drawn from it, each with the same chance:
// every n-th one would miss a language, or the answers to all questions, where a text repeats itself.
constexpr std::int64_t kVocabularyTextBytes = 32 << 20;

constexpr int kVocabularyLeast = 64;  // tokens that an operator may ask for

// How a vocabulary is learned.
struct VocabularyOptions {
  int tokens = 0;
  int threads = 1;
  std::int64_t text_bytes = kVocabularyTextBytes;  // about so much of the text is read
};

// Learns from the text, whose reader is then at its end. Returns the bytes of a model that SentencePiece's own programs
// can read; equal texts give equal models. Error invalid_argument: the text has nothing but blanks, or it bears fewer
// tokens, or needs more, and how many.
Result<std::string> learn_vocabulary(TextReader& text, const VocabularyOptions& options);

}  // namespace starling::dataset
