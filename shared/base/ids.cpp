#include "shared/base/ids.h"

namespace starling {
namespace {

int nibble(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string to_hex(std::span<const std::uint8_t> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

Status from_hex(std::string_view text, std::span<std::uint8_t> out) {
  if (text.size() != out.size() * 2) {
    return Error{ErrorCode::invalid_argument, "expected " + std::to_string(out.size() * 2) +
                                                  " hexadecimal digits, got " + std::to_string(text.size())};
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int high = nibble(text[2 * i]);
    const int low = nibble(text[2 * i + 1]);
    if (high < 0 || low < 0) return Error{ErrorCode::invalid_argument, "not a hexadecimal digit"};
    out[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  return {};
}

}  // namespace starling
