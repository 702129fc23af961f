// The encodings of floats between peers: the names that manifests and plans use, the numbers that frames carry, and the
// bytes that each takes. The meaning of the bytes is in client/averaging/codec.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "shared/base/result.h"

namespace starling::wire {

enum class Codec : std::uint8_t { fp32 = 0, fp16 = 1, int8 = 2, bf16 = 3, int4 = 4, sparse = 5 };

// Blocks, each with a scale of its own.
constexpr std::size_t kInt8BlockFloats = 128;
constexpr std::size_t kInt4BlockFloats = 64;
// A sparse encoding keeps one value in kSparseOneIn of every chunk, or part of one; the count is rounded up.
constexpr std::size_t kSparseChunkFloats = 4096;
constexpr std::size_t kSparseOneIn = 64;
// The values of a chunk that are sent, and their bytes: two bf16 levels, then 12 bits of index and 2 of value each.
constexpr std::size_t sparse_values(std::size_t floats) { return (floats + kSparseOneIn - 1) / kSparseOneIn; }
constexpr std::size_t sparse_chunk_bytes(std::size_t floats) {
  const std::size_t values = sparse_values(floats);
  return 4 + (values * 12 + 7) / 8 + (values * 2 + 7) / 8;
}

std::span<const std::string_view> words_of(Codec codec);
// Returns unsupported, with a list of the names, for a name this build does not have.
Result<Codec> codec_from_name(std::string_view name);
std::string_view to_string(Codec codec);
// "fp32, fp16, …"
std::string codec_names();
// The codec of a number on the wire, if there is one.
std::optional<Codec> codec_from_number(std::uint8_t number);

// True if averaged results may travel in this codec without error feedback. A sparse encoding leaves whole values out,
// which have to be sent in later rounds: it needs error feedback, of contributions and of results.
bool carries_results(Codec codec);

// Bytes of `floats` encoded values.
std::size_t encoded_bytes(Codec codec, std::size_t floats);

}  // namespace starling::wire
