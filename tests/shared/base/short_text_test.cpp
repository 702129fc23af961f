#include "shared/base/short_text.h"

#include <doctest/doctest.h>

using namespace starling;

TEST_CASE("a text is cut between two characters") {
  CHECK(cut_text("abc", 3) == "abc");
  CHECK(cut_text("abc", 2) == "ab");
  CHECK(cut_text("a\u0436\u0436", 4) == "a\u0436");
  CHECK(cut_text("a\u0436\u0436", 3) == "a\u0436");
  CHECK(cut_text("\U0001f600", 3).empty());
  CHECK(short_line("a\x1b\u0436\u0436", 5) == "a?\u0436…");
  CHECK(short_line("a\x1b\u0436\u0436", 6) == "a?\u0436\u0436");
}
