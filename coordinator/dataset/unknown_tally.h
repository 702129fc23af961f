// The part of a text that a tokenizer does not know. Much of it is a mistake: another language, another encoding, a
// vocabulary learned from something else.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "shared/text/tokenizer.h"

namespace starling::dataset {

class UnknownTally {
 public:
  // Counts a piece of text and its tokens.
  void add(const text::Tokenizer& tokenizer, std::string_view piece, std::span<const int> tokens);

  [[nodiscard]] std::int64_t tokens() const { return tokens_; }
  // The larger of two shares: unknown tokens among the tokens, and the bytes they stand for among the text's. One
  // token may stand for a whole sentence.
  [[nodiscard]] double share() const;
  // "0.04 % of the tokens are unknown (412, for 0.03 % of the text): 'ж' (U+0436), U+200B"; or that none is.
  [[nodiscard]] std::string told() const;

 private:
  [[nodiscard]] std::string commonest_letters() const;

  std::int64_t tokens_ = 0;
  std::int64_t unknown_ = 0;
  std::int64_t bytes_ = 0;
  std::int64_t unknown_bytes_ = 0;
  std::map<char32_t, std::int64_t> letters_;  // the first kinds of them, with their counts
};

}  // namespace starling::dataset
