#include "coordinator/accounts/display_name.h"

#include <algorithm>
#include <array>
#include <clocale>
#include <cstdint>
#include <cwctype>
#include <optional>

#include "shared/protocol/limits.h"

namespace starling::accounts {
namespace {

constexpr std::size_t kLettersMax = 32;
// Characters that Unicode counts as letters and that look blank: Hangul fillers, and the braille blank.
constexpr std::array<char32_t, 5> kInvisibleLetters = {0x115f, 0x1160, 0x2800, 0x3164, 0xffa0};

// The next character, removed from `text`; empty if the bytes are not valid UTF-8.
std::optional<char32_t> take_character(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t bytes = lead < 0x80 ? 1 : lead >> 5 == 0x6 ? 2 : lead >> 4 == 0xe ? 3 : lead >> 3 == 0x1e ? 4 : 0;
  if (bytes == 0 || text.size() < bytes) return std::nullopt;
  char32_t character = bytes == 1 ? lead : lead & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if (next >> 6 != 0x2) return std::nullopt;
    character = character << 6 | (next & 0x3fu);
  }
  constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  if (character < kSmallest[bytes] || character > 0x10ffff || character >> 11 == 0x1b) return std::nullopt;
  text.remove_prefix(bytes);
  return character;
}

// A locale independent of the process's own, which is never set. Null: only ASCII letters are known.
locale_t unicode_locale() {
  static const locale_t locale = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return locale;
}

bool is_letter_or_digit(char32_t character) {
  if (character < 0x80) {
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9');
  }
  if (std::find(kInvisibleLetters.begin(), kInvisibleLetters.end(), character) != kInvisibleLetters.end()) return false;
  return unicode_locale() != nullptr && ::iswalnum_l(static_cast<wint_t>(character), unicode_locale()) != 0;
}

}  // namespace

Result<std::string> check_display_name(std::string_view name) {
  while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
  while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
  const Error refused{ErrorCode::invalid_argument,
                      "this name can not be shown; use 1 to 32 letters, digits, blanks, '.', '_' or '-'"};
  if (name.size() > wire::kNameBytesMax) return refused;
  std::size_t length = 0;
  bool says_something = false;
  char32_t last = 0;
  for (std::string_view rest = name; !rest.empty(); ++length) {
    const std::optional<char32_t> character = take_character(rest);
    if (!character) return refused;
    const bool letter = is_letter_or_digit(*character);
    if (!letter && *character != ' ' && *character != '.' && *character != '_' && *character != '-') return refused;
    if (*character == ' ' && last == ' ') return refused;  // looks like one blank on a page
    says_something = says_something || letter;
    last = *character;
  }
  if (length == 0 || length > kLettersMax || !says_something) return refused;
  return std::string(name);
}

}  // namespace starling::accounts
