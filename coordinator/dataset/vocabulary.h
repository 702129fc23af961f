// A SentencePiece vocabulary learned from text, with the marks that text::Tokenizer requires.
#pragma once

#include <string>

#include "coordinator/dataset/text_reader.h"
#include "shared/base/result.h"

namespace starling::dataset {

// Most text from which a vocabulary is learned; of a longer text, every n-th piece is used.
constexpr std::int64_t kVocabularyTextBytesMax = 32 << 20;

// Learns `vocabulary` tokens from the text with `threads` threads; the reader is then at its end. Returns the bytes of
// a model that SentencePiece's own programs can read. Error invalid_argument: there is too little text.
Result<std::string> learn_vocabulary(TextReader& text, int vocabulary, int threads);

}  // namespace starling::dataset
