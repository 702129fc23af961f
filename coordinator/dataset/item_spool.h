// Items on their way into shards. Their number, and so the even division into shards, is known only after the last has
// come: until then they lie in nameless files, which vanish with the process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/dataset/out_folder.h"
#include "coordinator/dataset/progress.h"
#include "shared/base/result.h"
#include "shared/base/unique_fd.h"
#include "shared/run/data_options.h"
#include "shared/wire/safetensors.h"

namespace starling::dataset {

// A tensor that every shard contains, whatever its items.
struct CommonTensor {
  std::string name;
  std::vector<std::uint8_t> bytes;  // U8
};

// Division of the items into shards and a held-out file. A shard takes at most shard_bytes, but always one item.
struct CutOptions {
  wire::DataKind kind = wire::DataKind::tokens;
  std::int64_t shard_bytes = 0;
  double held_out_fraction = 0;   // fraction of the items, taken from their end
  std::int64_t held_out_max = 0;  // most items to hold out
  std::vector<CommonTensor> common{};
};

class ItemSpool {
 public:
  // Every item adds a row to each tensor. `shape` in `rows` is the shape of one row; empty: a row is one number.
  static Result<ItemSpool> create(const std::filesystem::path& folder, std::vector<wire::TensorInfo> rows);

  // Appends rows to one tensor; in the end all tensors must have equally many.
  Status append(std::size_t tensor, std::string_view rows);
  [[nodiscard]] std::int64_t items() const { return columns_.front().bytes / columns_.front().row_bytes; }

  // Writes the shards, each at most shard_bytes, all equally large up to one item, and the held-out file. Error
  // invalid_argument: the shards would be too many, or there are too few items.
  Result<wire::DataOptions> cut(const OutFolder& out, const CutOptions& options, Progress& progress);

 private:
  struct Column {
    wire::TensorInfo row;
    std::int64_t row_bytes = 0;
    UniqueFd fd{};
    std::int64_t bytes = 0;  // already written to the file
    std::string waiting{};   // still to be written
  };
  explicit ItemSpool(std::vector<Column> columns) : columns_(std::move(columns)) {}
  Status flush(Column& column);
  Result<wire::Artefact> write_file(const OutFolder& out, const CutOptions& options, std::int64_t first,
                                    std::int64_t items);
  [[nodiscard]] std::int64_t item_bytes() const;

  std::vector<Column> columns_;
};

}  // namespace starling::dataset
