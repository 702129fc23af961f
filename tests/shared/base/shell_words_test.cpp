#include "shared/base/shell_words.h"

#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <string>

using namespace starling;

namespace {

// The arguments that a shell makes of the text, each in a line.
std::string seen_by_shell(const std::string& text) {
  const std::string command = "printf '%s\\n' " + text;
  FILE* const shell = ::popen(command.c_str(), "r");
  REQUIRE(shell != nullptr);
  std::string seen;
  std::array<char, 256> piece{};
  while (const std::size_t read = std::fread(piece.data(), 1, piece.size(), shell)) seen.append(piece.data(), read);
  CHECK(::pclose(shell) == 0);
  return seen;
}

}  // namespace

TEST_CASE("a shell takes the word as it was, whatever is in it") {
  for (const char* text :
       {"plain", "my project", "it's", "''", "a\"b", "$HOME", "`id`", "a;b", "*", "~", "-x", "é/ü", "a\\b", "!", ""}) {
    CAPTURE(text);
    CHECK(seen_by_shell(shell_word(text)) == std::string(text) + "\n");
  }
}

TEST_CASE("a word that needs no apostrophes has none") {
  CHECK(shell_word("/srv/starling/my-project_1") == "/srv/starling/my-project_1");
  CHECK(shell_word("my project") == "'my project'");
}
