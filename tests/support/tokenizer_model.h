// A small SentencePiece model, learned on the spot.
#pragma once

#include <string>

namespace starling::testing {

// Of English-looking lines, with the marks that text::Tokenizer asks for, or without.
std::string tokenizer_model(int vocabulary, bool marks = true);

}  // namespace starling::testing
