#include "coordinator/dataset/vocabulary.h"

#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "shared/base/permutation.h"
#include "shared/text/tokenizer.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::dataset;

namespace {

// A line of words of eleven letters, from `first` on.
std::string line_of(int number, char first, int words) {
  std::string line;
  for (int word = 0; word < words; ++word) {
    auto letters = mix64(mix64(static_cast<std::uint64_t>(number * 100 + word)) % 300);
    for (int letter = 0; letter < 5; ++letter, letters /= 11) line += static_cast<char>(first + letters % 11);
    line += ' ';
  }
  return line + "\n";
}

std::filesystem::path put(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
  return file;
}

Result<std::string> learned(const std::filesystem::path& file, const VocabularyOptions& options) {
  TextReader text = TextReader::open({file}).value();
  return learn_vocabulary(text, options);
}

double unknown_share(const std::string& model, const std::string& text) {
  const auto tokenizer = text::Tokenizer::from_model(model);
  REQUIRE(tokenizer.ok());
  std::size_t bytes = 0;
  for (const std::string& part : tokenizer->unknown_parts(text)) bytes += part.size();
  return static_cast<double>(bytes) / static_cast<double>(text.size());
}

std::string refusal(const std::filesystem::path& file, int tokens) {
  const auto refused = learned(file, {.tokens = tokens});
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::invalid_argument);
  CHECK(refused.error().message.find(".cc") == std::string::npos);
  return refused.error().message;
}

}  // namespace

TEST_CASE("a part of a text that repeats itself still has all of its letters") {
  const testing::TempDir folder;
  for (const int period : {2, 3, 4, 5}) {
    CAPTURE(period);
    for (const bool unequal : {false, true}) {
      std::string text;
      for (int i = 0; i < 3000; ++i) {
        const bool other = i % period == period - 1;
        text += line_of(i, other ? 'a' : 'm', other && unequal ? 60 : 8);
      }
      const auto file = put(folder / "text", text);
      const auto part = static_cast<std::int64_t>(text.size()) / period;
      const auto model = learned(file, {.tokens = 64, .text_bytes = part});
      REQUIRE_MESSAGE(model.ok(), model.error().message);
      CHECK(unknown_share(*model, "dear mist on a stone") < 0.2);
      CHECK(unknown_share(*model, line_of(3, 'a', 8)) == 0);
      CHECK(unknown_share(*model, line_of(4, 'm', 8)) == 0);
      CHECK(learned(file, {.tokens = 64, .text_bytes = part}).value() == *model);
    }
  }
}

TEST_CASE("a text that SentencePiece finds empty is refused before it ends the process") {
  const testing::TempDir folder;
  for (const char* const blank :
       {"\n\r\n \n", "\n \n\t\n", "\xef\xbb\xbf", "\u200b\n\u200b", "\u00a0\u00a0\n", "\u3000\n\u3000", "\t\t\n\t",
        "\r", "\r\r\n", "\x01\x02\n", "\u2585\n\u2585 \u2585"}) {
    CAPTURE(blank);
    CHECK(refusal(put(folder / "blank", blank), 64).find("nothing but") != std::string::npos);
  }
  CHECK(refusal(put(folder / "nul", std::string("\0\n\0\0", 4)), 64).find("nothing but") != std::string::npos);
}

TEST_CASE("lines with SentencePiece's own mark are learned from") {
  const testing::TempDir folder;
  std::string text;
  for (int i = 0; i < 300; ++i) text += "\u2585 " + line_of(i, 'a', 8);
  const auto model = learned(put(folder / "text", text), {.tokens = 64});
  REQUIRE_MESSAGE(model.ok(), model.error().message);
  CHECK(unknown_share(*model, line_of(5, 'a', 8)) == 0);
}

TEST_CASE("a vocabulary that is too large or too small is refused with the size that will do") {
  const testing::TempDir folder;
  std::string text;
  for (int i = 0; i < 200; ++i) text += line_of(i, 'a', 8);
  const auto file = put(folder / "small", text);
  const std::string too_large = refusal(file, 30'000);
  const std::string words = "use --vocabulary ";
  const std::size_t at = too_large.find(words);
  REQUIRE(at != std::string::npos);
  const int most = std::stoi(too_large.substr(at + words.size()));
  CHECK(most > 20);
  CHECK(learned(file, {.tokens = most}).ok());

  CHECK(refusal(put(folder / "tiny", "one two three\n"), 64).find("it takes more text") != std::string::npos);

  text.clear();
  for (int i = 0; i < 100; ++i) text += std::string("\xe4\xb8") + static_cast<char>(0x80 + i % 60) + "\n";
  const std::string too_small = refusal(put(folder / "letters", text), 64);
  CHECK_MESSAGE(too_small.find("use --vocabulary 66 or more") != std::string::npos, too_small);
}
