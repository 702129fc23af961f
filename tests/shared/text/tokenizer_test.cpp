#include "shared/text/tokenizer.h"

#include <doctest/doctest.h>

#include "tests/support/tokenizer_model.h"

using starling::testing::tokenizer_model;
using starling::text::Tokenizer;

TEST_CASE("text becomes tokens and the same text again") {
  const auto tokenizer = Tokenizer::from_model(tokenizer_model(60));
  REQUIRE_MESSAGE(tokenizer.ok(), tokenizer.error().message);
  CHECK(tokenizer->vocabulary() == 60);
  std::vector<int> tokens = {1, 2, 3};
  REQUIRE(tokenizer->encode("the heron stands under grey water", tokens).ok());
  CHECK(tokenizer->decode(tokens).value() == "the heron stands under grey water");
  tokens.insert(tokens.begin(), 3);
  tokens.push_back(4);
  CHECK(tokenizer->decode(tokens).value() == "the heron stands under grey water");  // marks stand for nothing
  CHECK(tokenizer->decode({}).value().empty());
}

TEST_CASE("a token that is none of the vocabulary's stands for nothing") {
  const auto tokenizer = Tokenizer::from_model(tokenizer_model(60));
  REQUIRE(tokenizer.ok());
  std::vector<int> tokens;
  REQUIRE(tokenizer->encode("cold stone", tokens).ok());
  for (const int stranger : {-1, 60, 1 << 30}) tokens.insert(tokens.begin() + 1, stranger);
  CHECK(tokenizer->decode(tokens).value() == "cold stone");
}

TEST_CASE("bytes that are no tokenizer, or one with other marks, are refused") {
  CHECK_FALSE(Tokenizer::from_model("").ok());
  CHECK_FALSE(Tokenizer::from_model("no model at all").ok());
  const auto other = Tokenizer::from_model(tokenizer_model(60, false));
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().message.find("--control_symbols=[MASK]") != std::string::npos);
}
