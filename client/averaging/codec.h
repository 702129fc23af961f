// How floats travel: fp32 as they are, fp16 scaled by the segment's largest magnitude. Sums are always fp32.
// Decoding checks every length; a non-finite value is corrupt: it must not reach a sum.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "shared/base/result.h"

namespace starling::averaging {

enum class Codec : std::uint8_t { fp32, fp16 };

// unsupported for a name this build does not have.
Result<Codec> codec_from_name(std::string_view name);
std::string_view to_string(Codec codec);

// Bytes of `floats` encoded values.
std::size_t encoded_bytes(Codec codec, std::size_t floats);

// out.size() == encoded_bytes(codec, values.size()).
void encode(Codec codec, std::span<const float> values, std::span<std::uint8_t> out);
// Overwrites `out` with the decoded values / adds them to `sum`. Error bound of fp16: 2^-11 of each value's
// magnitude plus 2^-24 of the segment's largest.
Status decode(Codec codec, std::span<const std::uint8_t> bytes, std::span<float> out);
Status decode_add(Codec codec, std::span<const std::uint8_t> bytes, std::span<float> sum);

}  // namespace starling::averaging
