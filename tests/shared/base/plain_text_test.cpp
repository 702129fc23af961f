#include "shared/base/plain_text.h"

#include <doctest/doctest.h>

#include "shared/base/files.h"
#include "shared/base/log.h"
#include "tests/support/temp_dir.h"

using namespace starling;

TEST_CASE("letters of every script are plain, with their marks and joiners") {
  for (const char* text : {"", "Ada", "Zoë", "प्रिया", "क्‍ष", "שלום", "مرحبا", "👩‍🔬", "ก็",
                           "\u00a0 \u00ad", "\U0010fffd"}) {
    CAPTURE(text);
    CHECK(plain_line(text) == text);
    CHECK(plain_lines(text) == text);
    CHECK(is_plain_line(text));
  }
}

TEST_CASE("control characters become visible, and cannot move a cursor") {
  CHECK(plain_line("a\x1b[2J\x07z\x7f") == "a?[2J?z?");
  CHECK(plain_line(std::string_view("a\0b", 3)) == "a?b");
  CHECK(plain_line("\u009b31m\u0090q\u009c") == "?31m?q?");
  CHECK_FALSE(is_plain_line("\u009b31m"));
}

TEST_CASE("the order of letters is that of the writer's alphabet") {
  CHECK(plain_line("a\u202etxt\u202c.exe") == "atxt.exe");
  CHECK(plain_line("\u2066\u2067\u2068x\u2069\u200e\u200f\u061c\u202a\u202b\u202d\u206f") == "x");
}

TEST_CASE("a line stays one, and lines stay lines") {
  CHECK(plain_line("a\nb\tc\r\nd\u0085e\u2028f\u2029g\v\f") == "a b c  d e f g  ");
  CHECK(plain_lines("a\nb\tc\r\nd\re\u0085f\u2028g") == "a\nb\tc\nd e f g");
  CHECK(plain_lines("a\x1b[2J\n") == "a?[2J\n");
}

TEST_CASE("what is no UTF-8 becomes a question mark for each byte, and never longer") {
  CHECK(plain_line("a\xff z") == "a? z");
  CHECK(plain_line("\xe2\x82") == "??");                 // cut
  CHECK(plain_line("\xc0\xaf\xe0\x80\xaf") == "?????");  // longer than needed
  CHECK(plain_line("\xed\xa0\x80") == "???");            // half a surrogate pair
  CHECK(plain_line("\xf4\x90\x80\x80") == "????");       // beyond Unicode
  CHECK(plain_line("\xc2\x1b[2J") == "??[2J");           // no control character hides in a cut sequence
  CHECK(plain_lines("\x9b") == "?");
}

TEST_CASE("a record of the log is one plain line, whoever wrote parts of it") {
  const testing::TempDir dir;
  const std::string file = (dir / "a.log").string();
  init_logging({.to_stderr = false, .file = file});
  log_warning("the project says: {}", "x\x1b[2J\u009b31m\n2026-01-01 00:00:00.000 W all is well\u202e\xff");
  flush_logs();
  init_logging({});
  const std::string log = read_file(file, 4096).value();
  CHECK(log.find("W the project says: x?[2J?31m 2026-01-01 00:00:00.000 W all is well?\n") != std::string::npos);
}
