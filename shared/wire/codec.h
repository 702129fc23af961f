// How floats may travel between peers: the names that manifests and plans use, the numbers that frames carry, and the
// bytes that each takes. What the bytes mean: client/averaging/codec.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "shared/base/result.h"

namespace starling::wire {

enum class Codec : std::uint8_t { fp32 = 0, fp16 = 1, int8 = 2 };

constexpr std::size_t kInt8BlockFloats = 128;  // each with a scale of its own

// unsupported, naming those there are, for a name this build does not have.
Result<Codec> codec_from_name(std::string_view name);
std::string_view to_string(Codec codec);
// "fp32, fp16, …"
std::string codec_names();
// The codec of a number on the wire, if there is one.
std::optional<Codec> codec_from_number(std::uint8_t number);

// Bytes of `floats` encoded values.
std::size_t encoded_bytes(Codec codec, std::size_t floats);

}  // namespace starling::wire
