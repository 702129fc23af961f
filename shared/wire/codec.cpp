#include "shared/wire/codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace starling::wire {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"fp32", "fp16", "int8"};
constexpr std::size_t kHalvesScaleBytes = sizeof(float);
constexpr std::size_t kBlockScaleBytes = 2;

}  // namespace

Result<Codec> codec_from_name(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found != kNames.end()) return static_cast<Codec>(found - kNames.begin());
  return Error{ErrorCode::unsupported,
               fmt::format("choose codec: '{}' is not known to this version, which has {}", name, codec_names())};
}

std::string codec_names() { return fmt::format("{}", fmt::join(kNames, ", ")); }

std::string_view to_string(Codec codec) { return kNames[static_cast<std::size_t>(codec)]; }

std::optional<Codec> codec_from_number(std::uint8_t number) {
  return number < kNames.size() ? std::optional(static_cast<Codec>(number)) : std::nullopt;
}

std::size_t encoded_bytes(Codec codec, std::size_t floats) {
  switch (codec) {
    case Codec::fp32:
      break;
    case Codec::fp16:
      return kHalvesScaleBytes + floats * 2;
    case Codec::int8:
      return floats + (floats + kInt8BlockFloats - 1) / kInt8BlockFloats * kBlockScaleBytes;
  }
  return floats * sizeof(float);
}

}  // namespace starling::wire
