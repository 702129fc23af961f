#include "shared/base/plain_text.h"

#include <algorithm>
#include <array>

namespace starling {
namespace {

constexpr char32_t kNoCharacter = 0xffffffff;

// The first character of a text that is not empty, and its bytes; kNoCharacter and one byte where that is no UTF-8.
struct First {
  char32_t character = kNoCharacter;
  std::size_t bytes = 1;
};

First first_of(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >> 5 == 0x6 ? 2 : lead >> 4 == 0xe ? 3 : lead >> 3 == 0x1e ? 4 : 0;
  if (bytes == 0 || text.size() < bytes) return {};
  char32_t character = lead & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if (next >> 6 != 0x2) return {};
    character = character << 6 | (next & 0x3fu);
  }
  constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = character >> 11 == 0x1b;
  if (character < kSmallest[bytes] || character > 0x10ffff || surrogate) return {};
  return {character, bytes};
}

bool ends_line(char32_t c) { return (c >= '\n' && c <= '\r') || c == 0x85 || c == 0x2028 || c == 0x2029; }

bool is_control(char32_t c) { return c < 0x20 || (c >= 0x7f && c < 0xa0); }

// Marks, embeddings, overrides and isolates, and the six that Unicode advises against.
bool sets_direction(char32_t c) {
  return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x206f);
}

bool is_printable_ascii(char c) { return c >= ' ' && c < 0x7f; }

std::string plain(std::string_view text, bool keeps_lines) {
  std::string out;
  out.reserve(text.size());
  for (std::string_view rest = text; !rest.empty();) {
    const First first = first_of(rest);
    const bool crlf = keeps_lines && rest.starts_with("\r\n");
    const char32_t c = first.character;
    if (keeps_lines && (c == '\n' || c == '\t')) {
      out += rest.front();
    } else if (c == '\t' || (ends_line(c) && !crlf)) {
      out += ' ';
    } else if (c == kNoCharacter || (is_control(c) && !crlf)) {
      out += '?';
    } else if (!crlf && !sets_direction(c)) {
      out += rest.substr(0, first.bytes);
    }
    rest.remove_prefix(first.bytes);
  }
  return out;
}

}  // namespace

std::string plain_line(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), is_printable_ascii)) return std::string(text);
  return plain(text, false);
}

std::string plain_lines(std::string_view text) { return plain(text, true); }

bool is_plain_line(std::string_view text) { return plain_line(text) == text; }

}  // namespace starling
