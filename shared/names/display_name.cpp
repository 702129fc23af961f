#include "shared/names/display_name.h"

#include <fmt/core.h>
#include <unicode/brkiter.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/uscript.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

#include "shared/protocol/names.h"

namespace starling::names {
namespace {

constexpr std::int32_t kClustersMax = 32;
constexpr std::int32_t kCharactersMax = 64;  // the database's limit
constexpr int kMarksMax = 8;                 // behind one letter: Burmese and Tibetan spell with six
constexpr UChar32 kZwnj = 0x200c;
constexpr UChar32 kZwj = 0x200d;
constexpr int kViramaClass = 9;  // the canonical combining class of marks that take a letter's vowel away
constexpr std::string_view kUse = "use letters, digits, single blanks, '.', '_' or '-'";

// Signs that spelling needs and that Unicode counts as symbols or punctuation: Bengali isshar, Burmese genitive.
constexpr std::array<UChar32, 2> kSigns = {0x09fa, 0x104f};
// Signs between two letters of a word: Catalan's middle dot, Hebrew's gershayim, the apostrophe of typesetters,
// Japanese's dot between names.
constexpr std::array<UChar32, 4> kBetweenLetters = {0xb7, 0x5f4, 0x2019, 0x30fb};
constexpr UChar32 kGeresh = 0x5f3;  // behind any letter, also the last
// Scripts that join their letters, where a joiner between two makes another word.
constexpr std::array<UScriptCode, 20> kJoiningScripts = {
    USCRIPT_ARABIC,     USCRIPT_SYRIAC,  USCRIPT_MONGOLIAN, USCRIPT_NKO,       USCRIPT_ADLAM,
    USCRIPT_DEVANAGARI, USCRIPT_BENGALI, USCRIPT_GURMUKHI,  USCRIPT_GUJARATI,  USCRIPT_ORIYA,
    USCRIPT_TAMIL,      USCRIPT_TELUGU,  USCRIPT_KANNADA,   USCRIPT_MALAYALAM, USCRIPT_SINHALA,
    USCRIPT_KHMER,      USCRIPT_MYANMAR, USCRIPT_NEWA,      USCRIPT_BALINESE,  USCRIPT_JAVANESE};

Error refused(const std::string& why) { return {ErrorCode::invalid_argument, "this name can not be shown; " + why}; }

std::string utf8_of(const icu::UnicodeString& text) {
  std::string bytes;
  text.toUTF8String(bytes);
  return bytes;
}

// The character as people see it, where it can be seen, and its code point.
std::string told(UChar32 character) {
  const std::string code = fmt::format("U+{:04X}", static_cast<std::uint32_t>(character));
  if (!u_isgraph(character) || (U_GET_GC_MASK(character) & U_GC_M_MASK) != 0) return code;
  return fmt::format("'{}' ({})", utf8_of(icu::UnicodeString(character)), code);
}

bool is_letter(UChar32 character) {
  if (std::find(kSigns.begin(), kSigns.end(), character) != kSigns.end()) return true;
  return (U_GET_GC_MASK(character) & (U_GC_L_MASK | U_GC_ND_MASK | U_GC_NL_MASK)) != 0;
}
bool is_mark(UChar32 character) { return (U_GET_GC_MASK(character) & (U_GC_MN_MASK | U_GC_MC_MASK)) != 0; }
bool is_joiner(UChar32 character) { return character == kZwnj || character == kZwj; }

// Judges the characters of a name one after the other.
class Reader {
 public:
  explicit Reader(const icu::UnicodeString& name) : name_(name) {}

  Status read() {
    for (std::int32_t at = 0; at < name_.length(); at = name_.moveIndex32(at, 1)) {
      const UChar32 character = name_.char32At(at);
      const std::int32_t behind = name_.moveIndex32(at, 1);
      next_ = behind < name_.length() ? name_.char32At(behind) : 0;
      STARLING_TRY(take(character));
      last_ = character;
    }
    return letters_ ? Status() : refused("it needs a letter or a digit");
  }

 private:
  Status take(UChar32 character) {
    if (is_joiner(character)) return take_joiner(character);
    if (u_hasBinaryProperty(character, UCHAR_DEFAULT_IGNORABLE_CODE_POINT)) {
      return refused(fmt::format("{} can not be seen: {}", told(character), kUse));
    }
    if (is_letter(character)) return take_letter(character);
    if (is_mark(character)) return take_mark(character);
    letter_ = 0;
    if (character == ' ') return last_ == ' ' ? refused("it has two blanks in a row") : Status();
    if (character == '.' || character == '_' || character == '-') return {};
    const bool between = std::find(kBetweenLetters.begin(), kBetweenLetters.end(), character) != kBetweenLetters.end();
    if (is_letter(last_) && (character == kGeresh || (between && is_letter(next_)))) return {};
    return refused(fmt::format("it has {}: {}", told(character), kUse));
  }

  Status take_letter(UChar32 character) {
    letters_ = true;
    letter_ = character;
    marks_ = 0;
    const UCharDirection direction = u_charDirection(character);
    leftward_ = leftward_ || direction == U_RIGHT_TO_LEFT || direction == U_RIGHT_TO_LEFT_ARABIC;
    rightward_ = rightward_ || direction == U_LEFT_TO_RIGHT;
    if (!leftward_ || !rightward_) return {};
    return refused("it has letters that are written from right to left beside others that are not: use one direction");
  }

  Status take_mark(UChar32 character) {
    if (letter_ == 0) return refused(fmt::format("the mark {} needs a letter before it", told(character)));
    if (character == last_) return refused(fmt::format("it has the mark {} twice in a row", told(character)));
    if (++marks_ <= kMarksMax) return {};
    return refused(fmt::format("a letter has more than {} marks", kMarksMax));
  }

  // Behind a virama the joiner alone chooses its form; elsewhere letters, or marks of one, follow.
  Status take_joiner(UChar32 character) {
    UErrorCode code = U_ZERO_ERROR;
    const UScriptCode script = letter_ == 0 ? USCRIPT_COMMON : uscript_getScript(letter_, &code);
    const bool joins = std::find(kJoiningScripts.begin(), kJoiningScripts.end(), script) != kJoiningScripts.end();
    const bool goes_on = u_getCombiningClass(last_) == kViramaClass || uscript_hasScript(next_, script) ||
                         (is_mark(next_) && uscript_hasScript(next_, USCRIPT_INHERITED));
    if (joins && goes_on && !is_joiner(last_) && (is_letter(last_) || is_mark(last_))) return {};
    return refused(fmt::format("{} can not be seen, and joins no letters here: {}", told(character), kUse));
  }

  const icu::UnicodeString& name_;
  UChar32 last_ = 0;
  UChar32 next_ = 0;
  UChar32 letter_ = 0;  // the current cluster's; 0: none
  int marks_ = 0;       // behind it
  bool letters_ = false;
  bool leftward_ = false;
  bool rightward_ = false;
};

// Counts what readers take for letters, and writes where the first ones end. Without ICU's data each character counts.
std::int32_t clusters_of(const icu::UnicodeString& name, std::int32_t* ends, std::int32_t ends_max) {
  UErrorCode code = U_ZERO_ERROR;
  const std::unique_ptr<icu::BreakIterator> breaks(
      icu::BreakIterator::createCharacterInstance(icu::Locale::getRoot(), code));
  if (U_FAILURE(code)) return name.countChar32();
  breaks->setText(name);
  std::int32_t count = 0;
  for (std::int32_t end = breaks->next(); end != icu::BreakIterator::DONE; end = breaks->next()) {
    if (count < ends_max) ends[count] = end;
    ++count;
  }
  return count;
}

bool is_utf8(std::string_view text) {
  std::int32_t at = 0;
  const auto size = static_cast<std::int32_t>(text.size());
  while (at < size) {
    UChar32 character = 0;
    U8_NEXT(text.data(), at, size, character);
    if (character < 0) return false;
  }
  return true;
}

icu::UnicodeString composed(std::string_view text) {
  const icu::UnicodeString wide =
      icu::UnicodeString::fromUTF8(icu::StringPiece(text.data(), static_cast<std::int32_t>(text.size())));
  UErrorCode code = U_ZERO_ERROR;
  const icu::Normalizer2* const nfc = icu::Normalizer2::getNFCInstance(code);
  icu::UnicodeString result = U_SUCCESS(code) ? nfc->normalize(wide, code) : wide;
  return U_SUCCESS(code) ? result : wide;
}

}  // namespace

Result<std::string> check_display_name(std::string_view name) {
  while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
  while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
  if (name.empty()) return refused("it is empty");
  const Error too_long = refused(fmt::format("it is too long: {} letters are the most", kClustersMax));
  if (name.size() > 4 * wire::kDisplayNameBytesMax) return too_long;
  if (!is_utf8(name)) return refused("it is not valid UTF-8");
  const icu::UnicodeString text = composed(name);
  STARLING_TRY(Reader(text).read());
  if (clusters_of(text, nullptr, 0) > kClustersMax) return too_long;
  std::string kept = utf8_of(text);
  if (kept.size() > wire::kDisplayNameBytesMax || text.countChar32() > kCharactersMax) {
    return refused(fmt::format("it is too long: its letters and their marks take more than {} bytes or {} characters",
                               wire::kDisplayNameBytesMax, kCharactersMax));
  }
  return kept;
}

std::string shortened_name(std::string_view name, std::size_t bytes_max) {
  constexpr std::string_view kEllipsis = "…";
  if (name.size() <= bytes_max) return std::string(name);
  const icu::UnicodeString text = composed(name);
  std::array<std::int32_t, kClustersMax> ends{};
  for (std::int32_t kept = std::min(clusters_of(text, ends.data(), kClustersMax), kClustersMax); kept > 0; --kept) {
    std::string shortened = utf8_of(text.tempSubString(0, ends[static_cast<std::size_t>(kept) - 1]));
    if (shortened.size() + kEllipsis.size() <= bytes_max) return shortened.append(kEllipsis);
  }
  return std::string(kEllipsis);
}

std::string numbered_name(std::string_view name, int number) {
  const std::string ending = fmt::format(" {:02}", number);
  const icu::UnicodeString text = composed(name);
  std::array<std::int32_t, kClustersMax> ends{};
  std::int32_t kept = std::min(clusters_of(text, ends.data(), kClustersMax), kClustersMax - 3);
  for (; kept > 0; --kept) {
    std::string shortened = utf8_of(text.tempSubString(0, ends[static_cast<std::size_t>(kept) - 1])) + ending;
    if (auto checked = check_display_name(shortened); checked) return *checked;
  }
  return ending.substr(1);
}

}  // namespace starling::names
