#include "db/stores/name_keys.h"

#include <unicode/locid.h>
#include <unicode/normalizer2.h>
#include <unicode/unistr.h>
#include <unicode/uspoof.h>
#include <unicode/uversion.h>

#include "shared/base/verify.h"

namespace starling::db {
namespace {

constexpr std::string_view kRulesVersion = "2";
constexpr int kFoldingsMax = 8;  // two are enough for any letter of Unicode 15

// Shared by all threads, which only read it; without ICU's data nothing here can work.
const USpoofChecker& spoof_checker() {
  static const USpoofChecker* const checker = [] {
    UErrorCode code = U_ZERO_ERROR;
    const USpoofChecker* const opened = uspoof_open(&code);
    VERIFY(U_SUCCESS(code));
    return opened;
  }();
  return *checker;
}

icu::UnicodeString normal(const icu::UnicodeString& text, const icu::Normalizer2* (*form)(UErrorCode&)) {
  UErrorCode code = U_ZERO_ERROR;
  const icu::Normalizer2* const rules = form(code);
  VERIFY(U_SUCCESS(code));
  icu::UnicodeString result = rules->normalize(text, code);
  VERIFY(U_SUCCESS(code));
  return result;
}

icu::UnicodeString skeleton(const icu::UnicodeString& text) {
  UErrorCode code = U_ZERO_ERROR;
  icu::UnicodeString result;
  uspoof_getSkeletonUnicodeString(&spoof_checker(), 0, text, result, &code);
  VERIFY(U_SUCCESS(code));
  return result;
}

// A skeleton may hold letters that fold on, hence until nothing changes.
icu::UnicodeString folded(icu::UnicodeString text) {
  for (int i = 0; i < kFoldingsMax; ++i) {
    icu::UnicodeString next = skeleton(normal(text, icu::Normalizer2::getNFKCCasefoldInstance));
    if (next == text) break;
    text = next;
  }
  return text;
}

// Capitals of folded letters, so that a name has the same in any case. Once only: a skeleton has a small l for a
// capital I, and these two stay apart.
icu::UnicodeString in_capitals(const icu::UnicodeString& text) {
  return skeleton(normal(text, icu::Normalizer2::getNFKCCasefoldInstance).toUpper(icu::Locale::getRoot()));
}

std::string utf8_of(const icu::UnicodeString& text) {
  std::string bytes;
  text.toUTF8String(bytes);
  return bytes;
}

}  // namespace

NameKeys keys_of_name(std::string_view name) {
  const icu::UnicodeString text =
      icu::UnicodeString::fromUTF8(icu::StringPiece(name.data(), static_cast<std::int32_t>(name.size())));
  return {utf8_of(folded(text)), utf8_of(skeleton(normal(text, icu::Normalizer2::getNFCInstance))),
          utf8_of(in_capitals(text))};
}

std::string name_rules() { return std::string(kRulesVersion) + " " + U_ICU_VERSION; }

}  // namespace starling::db
