#include "coordinator/dataset/unknown_tally.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "coordinator/dataset/examples.h"
#include "tests/support/tokenizer_model.h"

using namespace starling;
using dataset::UnknownTally;

namespace {

struct Counted {
  text::Tokenizer tokenizer = text::Tokenizer::from_model(testing::tokenizer_model(60)).value();
  UnknownTally tally;

  void add(const std::string& piece) {
    std::vector<int> tokens;
    REQUIRE(tokenizer.encode(piece, tokens).ok());
    tally.add(tokenizer, piece, tokens);
  }
  [[nodiscard]] bool tells(std::string_view part) const { return tally.told().find(part) != std::string::npos; }
};

}  // namespace

TEST_CASE("text that the tokenizer knows has no unknown tokens") {
  Counted counted;
  CHECK(counted.tally.share() == 0);
  counted.add("the heron stands under grey water");
  CHECK(counted.tally.share() == 0);
  CHECK(counted.tells("none"));
}

TEST_CASE("the commonest letters that the tokenizer does not know are named") {
  Counted counted;
  for (int i = 0; i < 50; ++i) counted.add("the heron stands under grey water");
  counted.add("\u0436 the \u0436 heron \u0436");
  counted.add("\u00e9 the \u200b\u202e \u00e9 heron");
  CHECK(counted.tells("unknown"));
  CHECK(counted.tells("'\u0436' (U+0436), '\u00e9' (U+00E9)"));
  CHECK_FALSE(counted.tells("\u202e"));  // a mark that would turn the line around
  CHECK(counted.tally.share() > 0.001);
  CHECK(counted.tally.share() < 0.1);
}

TEST_CASE("a stretch that is one unknown token counts by its length") {
  Counted counted;
  for (int i = 0; i < 50; ++i) counted.add("the heron stands under grey water");
  std::string stretch;
  for (int i = 0; i < 500; ++i) stretch += "\u4e2d";
  counted.add(stretch);
  CHECK(counted.tally.share() > 0.4);
  CHECK(counted.tells("'\u4e2d' (U+4E2D)"));
}

TEST_CASE("bytes that are no UTF-8 become unknown, and lists of examples stay short") {
  Counted counted;
  counted.add("the \xff\xfe heron");
  CHECK(counted.tells("U+FFFD"));
  const std::vector<std::string> all(30, "a");
  CHECK(dataset::examples_of(all, ", ", 2) == "a, a and 28 more");
  CHECK(dataset::examples_of(all, ", ", 30).find("more") == std::string::npos);
  CHECK(dataset::percent_of(0.2314) == "23.1 %");
  CHECK(dataset::percent_of(0.000012) == "0.0012 %");
  CHECK(dataset::percent_of(0.000000012) == "less than 0.0001 %");
}
