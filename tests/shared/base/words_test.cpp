#include "shared/base/words.h"

#include <doctest/doctest.h>

#include <array>
#include <span>
#include <string_view>

namespace kitchen {
namespace {

enum class Spice { salt, black_pepper, caraway };
constexpr std::array<std::string_view, 3> kSpiceWords{"salt", "black-pepper", "caraway"};
std::span<const std::string_view> words_of(Spice /*spice*/) { return kSpiceWords; }

}  // namespace
}  // namespace kitchen

using namespace starling;
using kitchen::Spice;

TEST_CASE("every value has its word, and every word its value") {
  CHECK(word_of(Spice::black_pepper) == "black-pepper");
  REQUIRE(all_values<Spice>().size() == 3);
  for (const Spice spice : all_values<Spice>()) CHECK(from_word<Spice>(word_of(spice)) == spice);
}

TEST_CASE("text that is no word is no value, and a refusal lists the words") {
  for (const std::string_view text : {"", "black_pepper", "Salt", "salt "}) CHECK_FALSE(from_word<Spice>(text));
  CHECK(allowed_words<Spice>() == "'salt', 'black-pepper' or 'caraway'");
  CHECK(no_word("sand", allowed_words<Spice>()) == "is 'sand'; it must be 'salt', 'black-pepper' or 'caraway'");
  CHECK(in_quotes(std::span(kitchen::kSpiceWords).first(1)) == "'salt'");
}
