#include "shared/text/tokenizer.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

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
  const std::string good = tokenizer_model(60);
  for (const std::string& bad : {std::string(), std::string("no model at all"), good.substr(0, good.size() / 2)}) {
    const auto refused = Tokenizer::from_model(bad);
    REQUIRE_FALSE(refused.ok());
    CHECK_MESSAGE(refused.error().message.find(".cc") == std::string::npos, refused.error().message);
    CHECK(refused.error().message.find("read the tokenizer: it is") == 0);
  }
  const auto json = Tokenizer::from_model(R"({"version": "1.0", "model": {"type": "BPE"}})");
  REQUIRE_FALSE(json.ok());
  CHECK(json.error().message.find("JSON") != std::string::npos);
  const auto other = Tokenizer::from_model(tokenizer_model(60, false));
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().message.find("--control_symbols=[MASK]") != std::string::npos);
}

TEST_CASE("a mask is told from another mark in its place") {
  for (const char* const mask : {"[MASK]", "<mask>"}) {
    CHECK(Tokenizer::from_model(tokenizer_model(60, true, mask)).value().has_mask());
  }
  CHECK_FALSE(Tokenizer::from_model(tokenizer_model(60, true, "<sep>")).value().has_mask());
}

TEST_CASE("the parts of a text that are unknown are told as they stand there") {
  const auto tokenizer = Tokenizer::from_model(tokenizer_model(60));
  REQUIRE(tokenizer.ok());
  CHECK(tokenizer->unknown_parts("the heron").empty());
  CHECK(tokenizer->unknown_parts("the \u0436\u0437 heron \u0438") ==
        std::vector<std::string>{"\u0436\u0437", "\u0438"});
}
