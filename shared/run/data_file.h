// The rules that a file of a run's data keeps, so that volunteers can train on it: for the trainers that read it, and
// for the coordinator that takes it over, which refuses the file rather than let every trainer do so.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "shared/base/result.h"
#include "shared/run/run_manifest.h"
#include "shared/wire/safetensors.h"
#include "shared/wire/tensor_pieces.h"

namespace starling::wire {

// The tensors of a data file that are used, and what they hold.
struct DataParts {
  std::int64_t items = 0;              // tokens or labelled samples
  std::int64_t choices_count = 0;      // number of the model's tokens or classes
  TensorInfo choices;                  // the tokens, or the samples' classes; all of the file where the kind is bytes
  std::optional<TensorInfo> values{};  // the samples' values; unset for tokens
  std::int64_t values_each = 0;        // values that a sample has
  std::vector<std::int64_t> value_shape{};
  std::optional<TensorInfo> word_starts{}, word_bytes{};  // facts about tokens, U8

  // A sample's class, or a token, at this place of the tensor. corrupt if the model has no such one.
  [[nodiscard]] Status check_choice(std::int64_t place, std::int64_t choice) const;
};

// `start` is the begin of the file, as read_tensor_head wants it. corrupt, with the tensor, where the file does not
// hold the manifest's kind of data in a form that trainers read, or has fewer items than `items_min`.
Result<DataParts> find_data_parts(const RunManifest& manifest, std::span<const std::uint8_t> start,
                                  std::uint64_t file_bytes, std::int64_t items_min);
// Items that a training file or shard, and held-out data, have at least.
std::int64_t train_items_min(const RunManifest& manifest);
std::int64_t held_out_items_min(const RunManifest& manifest);

// Rules for the data of a new run only, since trainers bore with it before. corrupt, with the tensor.
Status check_new_parts(const RunManifest& manifest, const DataParts& parts);

// A number of a tensor of this type, U8, U16, I32 or I64, at any address.
std::int64_t number_at(TensorType type, const std::uint8_t* bytes);

// One pass over a file's content, from its begin to its end.
class DataPass {
 public:
  explicit DataPass(const DataParts& parts);
  // Takes the file's next bytes. corrupt, with the tensor and the first sample or token that the model has no class or
  // token for.
  Status look_at(std::span<const std::uint8_t> bytes);

  // Samples with a value that is not finite. Trainers set some aside; `first` is the first one's number.
  struct NotFinite {
    std::int64_t samples = 0;
    std::int64_t first = 0;
  };
  [[nodiscard]] const NotFinite& not_finite() const { return not_finite_; }

 private:
  DataParts parts_;
  TensorPieces choices_;
  std::optional<TensorPieces> floats_;
  std::int64_t next_choice_ = 0;
  std::int64_t next_float_ = 0;
  NotFinite not_finite_;
  std::int64_t last_not_finite_ = -1;
};

}  // namespace starling::wire
