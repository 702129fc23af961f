// The safetensors layout, in which tensors travel and rest: u64 header length (little-endian), a JSON header with each
// tensor's name, type, shape and place, then the tensors' bytes. Data sets and exported models have it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shared/base/result.h"

namespace starling::wire {

constexpr std::size_t kTensorHeadBytesMax = (1 << 20) + 8;  // length and header

// The types that are read; others are refused.
enum class TensorType { u8, u16, i32, i64, f32 };
std::string_view to_string(TensorType type);  // "U8" and so on
std::size_t bytes_of(TensorType type);

// A tensor's description, and its place in the file.
struct TensorInfo {
  std::string name;
  TensorType type = TensorType::f32;
  std::vector<std::int64_t> shape;  // row-major
  std::uint64_t begin = 0;          // bytes, from the start of the file
  std::uint64_t end = 0;

  [[nodiscard]] std::int64_t elements() const;
};

// Returns the tensors in the order of their places. `start` is the begin of the file, and may be all of it; the first
// kTensorHeadBytesMax bytes of a longer file are enough. corrupt for anything but a header whose tensors fill the file
// without gaps or overlaps; every place then lies within file_bytes and fits its type and shape.
Result<std::vector<TensorInfo>> read_tensor_head(std::span<const std::uint8_t> start, std::uint64_t file_bytes);

// Returns null where there is none of that name.
const TensorInfo* find_tensor(const std::vector<TensorInfo>& tensors, std::string_view name);

// Returns length and header of a file with these tensors, whose bytes follow in this order. Sets their places.
std::string encode_tensor_head(std::vector<TensorInfo>& tensors,
                               const std::vector<std::pair<std::string, std::string>>& metadata = {});

}  // namespace starling::wire
