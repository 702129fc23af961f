// The first bytes of a checkpoint file: u64 header length (little-endian), then the JSON header of the safetensors
// layout. A run knows exactly which tensors its state has, so the reader compares rather than computes: no number from
// a file is added, multiplied or used as a size before it was found equal to the expected one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "client/storage/checkpoint_store.h"
#include "shared/base/result.h"

namespace starling::storage {

constexpr std::size_t kHeaderLengthBytes = 8;

// Sizes of a run's state.
struct StateShape {
  RunId run_id;
  std::size_t parameter_count = 0;
  int optimizer_vectors = 0;

  [[nodiscard]] std::size_t data_bytes() const {
    return parameter_count * static_cast<std::size_t>(1 + optimizer_vectors) * sizeof(float);
  }
};

// Length and header, padded so that the floats behind them are aligned.
std::string encode_head(const CheckpointInfo& info, const StateShape& shape);

// Length of the header after the first eight bytes. corrupt when it is over kCheckpointHeaderMax or does not fit
// `file_bytes` together with the data of `shape`.
Result<std::size_t> decode_header_length(std::span<const std::uint8_t, kHeaderLengthBytes> first,
                                         std::uint64_t file_bytes, const StateShape& shape);

// corrupt, naming the field, for anything but a header of this run and shape.
Result<CheckpointInfo> decode_header(std::string_view json, const StateShape& shape);

}  // namespace starling::storage
