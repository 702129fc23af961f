#include "shared/wire/codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace starling::wire {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"fp32", "fp16", "int8", "bf16", "int4", "sparse"};
constexpr std::size_t kHalvesScaleBytes = sizeof(float);
constexpr std::size_t kBlockScaleBytes = 2;

std::size_t blocks(std::size_t floats, std::size_t block_floats) { return (floats + block_floats - 1) / block_floats; }

// Every block but the last is full; only there may codes leave half a byte empty.
std::size_t block_bytes(std::size_t floats, std::size_t block_floats, std::size_t codes_per_byte) {
  return blocks(floats, block_floats) * kBlockScaleBytes + blocks(floats, codes_per_byte);
}

std::size_t sparse_bytes(std::size_t floats) {
  const std::size_t rest = floats % kSparseChunkFloats;
  const std::size_t whole = floats / kSparseChunkFloats * sparse_chunk_bytes(kSparseChunkFloats);
  return whole + (rest == 0 ? 0 : sparse_chunk_bytes(rest));
}

}  // namespace

std::span<const std::string_view> words_of(Codec /*codec*/) { return kNames; }

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

bool carries_results(Codec codec) { return codec != Codec::sparse; }

std::size_t encoded_bytes(Codec codec, std::size_t floats) {
  switch (codec) {
    case Codec::fp32:
      break;
    case Codec::fp16:
      return kHalvesScaleBytes + floats * 2;
    case Codec::int8:
      return block_bytes(floats, kInt8BlockFloats, 1);
    case Codec::bf16:
      return floats * 2;
    case Codec::int4:
      return block_bytes(floats, kInt4BlockFloats, 2);
    case Codec::sparse:
      return sparse_bytes(floats);
  }
  return floats * sizeof(float);
}

}  // namespace starling::wire
