#include "coordinator/accounts/display_name.h"

#include <doctest/doctest.h>

namespace starling::accounts {

TEST_CASE("names of every script may be shown") {
  for (const char* name : {"Ada", "volunteer-1", "Zo\u00eb", "\u041c\u0438\u0440\u0430 2", "\u6771\u4eac", "a.b_c",
                           "\u0905\u0928\u0940\u0924\u093e", "7"}) {
    CAPTURE(name);
    CHECK(check_display_name(name).ok());
  }
  CHECK(*check_display_name("  Ada Lovelace ") == "Ada Lovelace");
}

TEST_CASE("names that would deceive or break a page are refused") {
  for (const char* name : {"",         "   ",      "...",          "<b>x</b>", "a\nb",       "a\tb",   "a  b",
                           "x\u202ey", "\u200bx",  "a&b",          "it's",     "\"q\"",      "a/b",    "\u3164",
                           "\xff\xfe", "\xc0\xaf", "\xed\xa0\x80", "x\u0085",  "\U0001F600", "a@b.org"}) {
    CAPTURE(name);
    CHECK_FALSE(check_display_name(name).ok());
  }
  CHECK(check_display_name(std::string(32, 'x')).ok());
  CHECK_FALSE(check_display_name(std::string(33, 'x')).ok());
  CHECK_FALSE(check_display_name(std::string("a\0b", 3)).ok());
}

}  // namespace starling::accounts
