#include "shared/names/display_name.h"

#include <doctest/doctest.h>
#include <unicode/locid.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/ulocdata.h>
#include <unicode/uniset.h>
#include <unicode/unistr.h>
#include <unicode/usetiter.h>

#include <random>
#include <string>
#include <vector>

namespace starling::names {
namespace {

std::string why_not(std::string_view name) {
  const auto checked = check_display_name(name);
  return checked ? "" : checked.error().message;
}

bool says(std::string_view name, std::string_view words) { return why_not(name).find(words) != std::string::npos; }

std::string utf8_of(const icu::UnicodeString& text) {
  std::string bytes;
  text.toUTF8String(bytes);
  return bytes;
}

// The letters, small and capital, that CLDR gives for a locale, and others of one letter and marks behind it.
std::vector<icu::UnicodeString> exemplars_of(const icu::Locale& locale) {
  UErrorCode code = U_ZERO_ERROR;
  ULocaleData* const data = ulocdata_open(locale.getName(), &code);
  REQUIRE(U_SUCCESS(code));
  USet* const found = ulocdata_getExemplarSet(data, nullptr, 0, ULOCDATA_ES_STANDARD, &code);
  REQUIRE(U_SUCCESS(code));
  std::vector<icu::UnicodeString> letters;
  icu::UnicodeSetIterator each(*icu::UnicodeSet::fromUSet(found));
  while (each.next()) {
    letters.push_back(each.getString());
    letters.push_back(icu::UnicodeString(each.getString()).toUpper(locale));
  }
  uset_close(found);
  ulocdata_close(data);
  return letters;
}

bool stands_alone(const icu::UnicodeString& text) {
  const UChar32 first = text.char32At(0);
  return (U_GET_GC_MASK(first) & (U_GC_L_MASK | U_GC_ND_MASK)) != 0;
}

// Names of up to ten of the letters, as they come, and marks, joiners and dots between two letters.
void check_names_of(const icu::Locale& locale, std::mt19937& random) {
  std::vector<icu::UnicodeString> letters;
  std::vector<icu::UnicodeString> others;
  for (const icu::UnicodeString& each : exemplars_of(locale)) (stands_alone(each) ? letters : others).push_back(each);
  REQUIRE_FALSE(letters.empty());
  const auto any = [&] { return letters[random() % letters.size()]; };
  icu::UnicodeString name;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    name += letters[i];
    if ((i + 1) % 10 != 0 && i + 1 != letters.size()) continue;
    CHECK_MESSAGE(check_display_name(utf8_of(name)).ok(), utf8_of(name), " ", why_not(utf8_of(name)));
    name.remove();
  }
  for (const icu::UnicodeString& other : others) {
    icu::UnicodeString base = any();
    for (int i = 0; i < 100 && base.countChar32() > 1; ++i) base = any();
    const bool joiner = other.char32At(0) == 0x200c || other.char32At(0) == 0x200d;
    for (int i = 0; joiner && i < 100 && u_charType(base.char32At(0)) != U_OTHER_LETTER; ++i) base = any();
    const std::string spelled = utf8_of(base + other + base);
    CHECK_MESSAGE(check_display_name(spelled).ok(), spelled, " ", why_not(spelled));
  }
}

}  // namespace

TEST_CASE("each language of CLDR can write a name") {
  std::mt19937 random(1);
  int locales = 0;
  int count = 0;
  const icu::Locale* const all = icu::Locale::getAvailableLocales(count);
  for (int i = 0; i < count; ++i) {
    CAPTURE(std::string(all[i].getName()));
    check_names_of(all[i], random);
    ++locales;
  }
  CHECK(locales > 400);
}

TEST_CASE("names of every script may be shown") {
  for (const char* name : {"Ada",
                           "volunteer-1",
                           "Zo\u00eb",
                           "\u041c\u0438\u0440\u0430 2",
                           "\u6771\u4eac",
                           "a.b_c",
                           "\u0905\u0928\u0940\u0924\u093e",
                           "7",
                           "प्रिया",
                           "हिन्दी",
                           "কৃষ্ণ",
                           "தமிழ்",
                           "కృష్ణ",
                           "ಕೃಷ್ಣ",
                           "കൃഷ്ണൻ",
                           "ශ්\u200dරී",
                           "র\u200d্যাব",
                           "കൃഷ്ണന്\u200d",
                           "ณรงค์",
                           "เล็ก",
                           "ខ្មែរ",
                           "မြန်မာ",
                           "བོད",
                           "علی\u200cرضا",
                           "محمد",
                           "דוד 2",
                           "Nguyễn Thị Hạnh",
                           "Gal·la",
                           "ג׳ורג׳",
                           "ジョン・スミス",
                           "Sean O\u2019Brien",
                           "Александра Константиновна",
                           "中华人民共和国深度学习志愿者"}) {
    CAPTURE(name);
    CHECK(why_not(name).empty());
  }
  CHECK(*check_display_name("  Ada Lovelace ") == "Ada Lovelace");
}

TEST_CASE("a name is kept composed, however it was typed") {
  CHECK(*check_display_name("Zoe\u0308") == "Zo\u00eb");
  CHECK(*check_display_name("Nguye\u0302\u0303n") == "Nguy\u1ec5n");
  CHECK(*check_display_name("\u1112\u1161\u11ab") == "\ud55c");
}

TEST_CASE("names that would deceive or break a page are refused") {
  for (const char* name :
       {"",        "   ",     "...",        "<b>x</b>", "a\nb",   "a\tb",     "a  b",     "x\u202ey",     "\u200bx",
        "a&b",     "it's",    "\"q\"",      "a/b",      "\u3164", "\xff\xfe", "\xc0\xaf", "\xed\xa0\x80", "x\u0085",
        "\u30fbx", "x\u2019", "\U0001F600", "a@b.org"}) {
    CAPTURE(name);
    CHECK_FALSE(check_display_name(name).ok());
  }
  CHECK(check_display_name(std::string(32, 'x')).ok());
  CHECK_FALSE(check_display_name(std::string(33, 'x')).ok());
  CHECK_FALSE(check_display_name(std::string("a\0b", 3)).ok());
}

TEST_CASE("a refusal says what is wrong, and names the character") {
  CHECK(says("", "it is empty"));
  CHECK(says("...", "needs a letter or a digit"));
  CHECK(says("a  b", "two blanks in a row"));
  CHECK(says("\xff\xfe", "not valid UTF-8"));
  CHECK(says("<b>", "it has '<' (U+003C)"));
  CHECK(says("it's", "it has ''' (U+0027)"));
  CHECK(says("x\u202ey", "U+202E can not be seen"));
  CHECK(says("\u200bx", "U+200B can not be seen"));
  CHECK(says("a\u200db", "U+200D can not be seen, and joins no letters here"));
  CHECK(says("علی\u200c", "U+200C can not be seen, and joins no letters here"));
  CHECK(says("\u0301a", "the mark U+0301 needs a letter before it"));
  CHECK(says("a.\u0301", "the mark U+0301 needs a letter before it"));
  CHECK(says("x\u0323\u0323", "the mark U+0323 twice in a row"));
  CHECK(says("Ada דוד", "from right to left"));
  CHECK(says(std::string(33, 'x'), "too long: 32 letters are the most"));
  CHECK(says(std::string(5000, 'x'), "too long"));
  std::string stacked;
  for (int i = 0; i < 20; ++i) stacked += "x\u0323\u0301\u0308";
  CHECK(says(stacked, "more than 128 bytes"));
}

TEST_CASE("thirty-two letters are a name, and with marks as many as 128 bytes hold") {
  std::string russian;
  std::string hindi;
  for (int i = 0; i < 32; ++i) russian += "\u0436";
  CHECK(check_display_name(russian).ok());
  CHECK_FALSE(check_display_name(russian + "\u0436").ok());
  for (int i = 0; i < 21; ++i) hindi += "\u0915\u093f";  // a letter and its vowel sign are one
  CHECK(check_display_name(hindi).ok());
  const auto longer = check_display_name(hindi + "\u0915\u093f");
  REQUIRE(!longer.ok());
  CHECK(longer.error().message.find("more than 128 bytes") != std::string::npos);
}

TEST_CASE("a name with a number behind it is a name, too, and at most as long") {
  CHECK(numbered_name("Ada", 7) == "Ada 07");
  CHECK(numbered_name(std::string(32, 'x'), 42) == std::string(29, 'x') + " 42");
  std::string thai;
  for (int i = 0; i < 21; ++i) thai += "\u0e01\u0e47";
  const std::string numbered = numbered_name(thai, 42);
  CHECK(check_display_name(numbered).ok());
  CHECK(numbered.ends_with("\u0e47 42"));
}

TEST_CASE("a name is shortened by whole letters, for programs that bear no longer one") {
  CHECK(shortened_name("Ada", 40) == "Ada");
  CHECK(shortened_name(std::string(32, 'a'), 32) == std::string(32, 'a'));
  CHECK(shortened_name("Любители длинных названий", 40) == "Любители длинных на…");
  const std::string hindi = shortened_name("हिन्दी हिन्दी हिन्दी", 40);
  CHECK(hindi == "हिन्दी हिन्दी…");
  CHECK(hindi.size() <= 40);
  CHECK(shortened_name("हिन्दी", 4) == "…");
}

}  // namespace starling::names
