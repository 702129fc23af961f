// How floats travel: fp32 as they are, fp16 scaled by the segment's largest magnitude. Sums are always fp32.
// Decoding checks every length and value first: bytes that hold a non-finite or absurd value change nothing.
//
//   fp32   little-endian floats
//   fp16   f32 scale (a power of two), then IEEE halves of value / scale
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "shared/base/result.h"

namespace starling::averaging {

enum class Codec : std::uint8_t { fp32, fp16 };

// Larger magnitudes are refused in what is added up, so that no sum of kGroupMembersMax members overflows.
constexpr float kSummandMax = 0x1p100F;

// unsupported for a name this build does not have.
Result<Codec> codec_from_name(std::string_view name);
std::string_view to_string(Codec codec);

// Bytes of `floats` encoded values.
std::size_t encoded_bytes(Codec codec, std::size_t floats);

// out.size() == encoded_bytes(codec, values.size()). Values that are not finite give bytes that decoding refuses.
void encode(Codec codec, std::span<const float> values, std::span<std::uint8_t> out);

// out = values. Encoding the decoded values again gives the same bytes, on every machine. Error bound of fp16:
// 2^-11 of each value's magnitude plus 2^-24 of the segment's largest.
Status decode(Codec codec, std::span<const std::uint8_t> bytes, std::span<float> out);

// sum = base + values; base may be the sum itself. corrupt also for magnitudes beyond kSummandMax.
Status decode_add(Codec codec, std::span<const std::uint8_t> bytes, std::span<const float> base, std::span<float> sum);

// Whether all values are finite and none is absurd.
bool summable(std::span<const float> values);
// values /= divisor.
void divide(std::span<float> values, float divisor);

}  // namespace starling::averaging
