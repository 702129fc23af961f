// A small SentencePiece model, trained on the spot.
#pragma once

#include <string>

namespace starling::testing {

// A model of English-like lines, with or without the marks that text::Tokenizer needs.
std::string tokenizer_model(int vocabulary, bool marks = true);

}  // namespace starling::testing
