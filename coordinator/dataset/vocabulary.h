// A SentencePiece vocabulary learned from text, with the marks that text::Tokenizer asks for.
#pragma once

#include <string>

#include "coordinator/dataset/text_reader.h"
#include "shared/base/result.h"

namespace starling::dataset {

// Text that a vocabulary is learned from, at most; of more, every so many-th piece is taken.
constexpr std::int64_t kVocabularyTextBytesMax = 32 << 20;

// Learns `vocabulary` tokens from the text, with so many threads; the reader is at its end afterwards. The model's
// bytes, which are what SentencePiece's own programs read. invalid_argument when there is too little text.
Result<std::string> learn_vocabulary(TextReader& text, int vocabulary, int threads);

}  // namespace starling::dataset
