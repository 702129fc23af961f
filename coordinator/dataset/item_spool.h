// Items on their way into shards. How many there are, and so how even shards are cut, is known when the last has come:
// until then they lie in files without a name, which vanish with the process.
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
#include "shared/wire/data_options.h"
#include "shared/wire/safetensors.h"

namespace starling::dataset {

// A tensor that all shards have, whatever their items.
struct CommonTensor {
  std::string name;
  std::vector<std::uint8_t> bytes;  // U8
};

struct CutOptions {
  std::string kind;  // of wire::DataOptions
  std::int64_t shard_bytes = 0;
  double held_out_fraction = 0;   // of the items, from their end
  std::int64_t held_out_max = 0;  // items; more are not held out
  std::vector<CommonTensor> common{};
};

class ItemSpool {
 public:
  // Of each item, every tensor gets a row: `shape` of a tensor is that of one row, and empty where it is one number.
  static Result<ItemSpool> create(const std::filesystem::path& folder, std::vector<wire::TensorInfo> rows);

  // Rows of one tensor; in the end all tensors must have equally many.
  Status append(std::size_t tensor, std::string_view rows);
  [[nodiscard]] std::int64_t items() const { return columns_.front().bytes / columns_.front().row_bytes; }

  // Writes the shards, none larger than shard_bytes and all of the same size but for one item, and what is held out.
  // invalid_argument when these would be too many, or there is too little to cut.
  Result<wire::DataOptions> cut(const OutFolder& out, const CutOptions& options, Progress& progress);

 private:
  struct Column {
    wire::TensorInfo row;
    std::int64_t row_bytes = 0;
    UniqueFd fd{};
    std::int64_t bytes = 0;  // written to the file, …
    std::string waiting{};   // … and about to be
  };
  explicit ItemSpool(std::vector<Column> columns) : columns_(std::move(columns)) {}
  Status flush(Column& column);
  Result<wire::Artefact> write_file(const OutFolder& out, const CutOptions& options, std::int64_t first,
                                    std::int64_t items);
  [[nodiscard]] std::int64_t item_bytes() const;

  std::vector<Column> columns_;
};

}  // namespace starling::dataset
