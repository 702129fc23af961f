#include "shared/wire/base64.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace starling::wire {
namespace {

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNoLetter = 64;

constexpr std::array<std::uint8_t, 256> values_of_letters() {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNoLetter);
  for (std::uint8_t i = 0; i < kLetters.size(); ++i) values[static_cast<std::uint8_t>(kLetters[i])] = i;
  return values;
}

}  // namespace

std::string base64(std::span<const std::uint8_t> bytes) {
  std::string text;
  text.reserve(base64_length(bytes.size()));
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; ++k) word = word << 8 | (k < count ? bytes[i + k] : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += k <= count ? kLetters[word >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::optional<std::vector<std::uint8_t>> from_base64(std::string_view text) {
  static constexpr std::array<std::uint8_t, 256> kValues = values_of_letters();
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::vector<std::uint8_t> bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    const std::size_t pads = i + 4 == text.size() ? padding : 0;
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const std::uint8_t value = k < 4 - pads ? kValues[static_cast<std::uint8_t>(text[i + k])] : std::uint8_t{0};
      if (value == kNoLetter) return std::nullopt;
      word = word << 6 | value;
    }
    for (std::size_t k = 0; k < 3 - pads; ++k) bytes.push_back(static_cast<std::uint8_t>(word >> (16 - 8 * k)));
    // Bits that belong to no byte are zero: every sequence of bytes has one text.
    if ((word & ((1U << (8 * pads)) - 1)) != 0) return std::nullopt;
  }
  return bytes;
}

std::string base64_of_floats(std::span<const float> values) {
  static_assert(std::endian::native == std::endian::little);
  return base64({reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes()});
}

std::optional<std::vector<float>> floats_from_base64(std::string_view text) {
  const auto bytes = from_base64(text);
  if (!bytes || bytes->size() % sizeof(float) != 0) return std::nullopt;
  std::vector<float> values(bytes->size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes->data(), bytes->size());
  if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); })) return std::nullopt;
  return values;
}

}  // namespace starling::wire
