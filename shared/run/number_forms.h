// The forms of numbers that a manifest chooses.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace starling::wire {

// The factors of matrix products. tf32: floats, of which cards may round all but ten bits of the mantissa away.
enum class Precision : std::uint8_t { fp32, bf16, tf32 };
inline constexpr std::array<std::string_view, 3> kPrecisionWords{"fp32", "bf16", "tf32"};
inline std::span<const std::string_view> words_of(Precision /*precision*/) { return kPrecisionWords; }

// The form of one moment of an optimizer (moments.h): floats, half precision, or a byte a value.
enum class MomentForm : std::uint8_t { fp32, fp16, fp8 };
inline constexpr std::array<std::string_view, 3> kMomentWords{"fp32", "fp16", "fp8"};
inline std::span<const std::string_view> words_of(MomentForm /*form*/) { return kMomentWords; }

}  // namespace starling::wire
