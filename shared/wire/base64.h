// Bytes as text of the letters A-Z a-z 0-9 + / (RFC 4648, section 4), three bytes as four letters. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace starling::wire {

constexpr std::size_t base64_length(std::size_t bytes) { return (bytes + 2) / 3 * 4; }
std::string base64(std::span<const std::uint8_t> bytes);
// Nothing unless base64() gives this text of some bytes.
std::optional<std::vector<std::uint8_t>> from_base64(std::string_view text);

// Floats, little-endian.
std::string base64_of_floats(std::span<const float> values);
// Nothing also unless all values are finite.
std::optional<std::vector<float>> floats_from_base64(std::string_view text);

}  // namespace starling::wire
