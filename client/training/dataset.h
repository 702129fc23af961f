// One file of a run's data, read in place: tokens of text, or labelled samples.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "client/trainer_link/serve.h"
#include "shared/base/result.h"
#include "shared/run/data_file.h"
#include "shared/run/run_manifest.h"

namespace starling::training {

// Refers to the file's bytes, which must outlive it.
class Dataset {
 public:
  // corrupt when the file does not hold the manifest's kind of data, or has fewer items than `items_min`.
  static Result<Dataset> open(const wire::RunManifest& manifest, std::span<const std::uint8_t> file,
                              std::int64_t items_min);

  // Number of tokens, or of labelled samples.
  [[nodiscard]] std::int64_t items() const { return parts_.items; }

  // Copies tokens from `first` on. corrupt for one outside of the model's vocabulary.
  Status copy_tokens(std::int64_t first, std::span<std::int64_t> out) const;
  // Whether a token begins a new word. True for all if the file does not say.
  [[nodiscard]] bool starts_word(std::int64_t token) const;
  // Bytes of text that a token stands for; 0 if the file does not say.
  [[nodiscard]] int bytes_of_token(std::int64_t word) const;

  // For labelled samples: the values (bytes become -2 to 2), their shape, and the class.
  void copy_values(std::int64_t sample, std::span<float> out) const;
  [[nodiscard]] const std::vector<std::int64_t>& value_shape() const { return parts_.value_shape; }
  [[nodiscard]] std::int64_t values() const { return parts_.values_each; }
  // corrupt where it is none of the model's.
  [[nodiscard]] Result<std::int64_t> class_of(std::int64_t sample) const;

 private:
  // The number at this place of the tensor of tokens or classes.
  [[nodiscard]] std::int64_t choice_at(std::int64_t place) const;

  wire::DataParts parts_;
  std::span<const std::uint8_t> choices_, values_, word_starts_, word_bytes_;
};

// The data stay readable as long as this is held.
using TrainingData = std::shared_ptr<const Dataset>;

// A file that samples are taken from. Errors as for Dataset::open.
Result<TrainingData> open_training_data(const wire::RunManifest& manifest, const trainer_link::SharedBytes& file);

}  // namespace starling::training
