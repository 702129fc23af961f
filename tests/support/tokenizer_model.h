// A small SentencePiece model, trained on the spot.
#pragma once

#include <string>

namespace starling::testing {

// A model of English-like lines, with or without the marks that text::Tokenizer needs; `fourth` is token 4 among them.
std::string tokenizer_model(int vocabulary, bool marks = true, const std::string& fourth = "[MASK]");

}  // namespace starling::testing
