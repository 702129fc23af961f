#include "client/training/dataset.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "shared/base/verify.h"
#include "shared/run/epochs.h"
#include "shared/wire/safetensors.h"

namespace starling::training {

namespace {

std::span<const std::uint8_t> bytes_at(const wire::TensorInfo& tensor, std::span<const std::uint8_t> file) {
  return file.subspan(static_cast<std::size_t>(tensor.begin), static_cast<std::size_t>(tensor.end - tensor.begin));
}

}  // namespace

Result<Dataset> Dataset::open(const wire::RunManifest& manifest, std::span<const std::uint8_t> file,
                              std::int64_t items_min) {
  Dataset data;
  auto parts = wire::find_data_parts(manifest, file, file.size(), items_min);
  if (!parts) return parts.error().prefixed("open the run's data");
  data.parts_ = std::move(parts).value();
  data.choices_ = bytes_at(data.parts_.choices, file);
  if (data.parts_.values) data.values_ = bytes_at(*data.parts_.values, file);
  if (data.parts_.word_starts) data.word_starts_ = bytes_at(*data.parts_.word_starts, file);
  if (data.parts_.word_bytes) data.word_bytes_ = bytes_at(*data.parts_.word_bytes, file);
  return data;
}

std::int64_t Dataset::choice_at(std::int64_t place) const {
  const wire::TensorType type = parts_.choices.type;
  return wire::number_at(type, choices_.data() + static_cast<std::size_t>(place) * wire::bytes_of(type));
}

Status Dataset::copy_tokens(std::int64_t first, std::span<std::int64_t> out) const {
  VERIFY(first >= 0 && first + static_cast<std::int64_t>(out.size()) <= items());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = choice_at(first + static_cast<std::int64_t>(i));
  const auto strange = std::find_if(out.begin(), out.end(),
                                    [this](std::int64_t token) { return token < 0 || token >= parts_.choices_count; });
  if (strange == out.end()) return {};
  return parts_.check_choice(first + (strange - out.begin()), *strange).error().prefixed("read the run's data");
}

bool Dataset::starts_word(std::int64_t token) const {
  const auto index = static_cast<std::size_t>(token);
  return index >= word_starts_.size() || word_starts_[index] != 0;
}

int Dataset::bytes_of_token(std::int64_t token) const {
  if (parts_.choices.type == wire::TensorType::u8) return 1;
  const auto index = static_cast<std::size_t>(token);
  return index < word_bytes_.size() ? word_bytes_[index] : 0;
}

void Dataset::copy_values(std::int64_t sample, std::span<float> out) const {
  const std::int64_t first = sample * values();
  VERIFY(sample >= 0 && sample < items() && static_cast<std::int64_t>(out.size()) == values());
  if (parts_.values->type == wire::TensorType::f32) {
    std::memcpy(out.data(), values_.data() + static_cast<std::size_t>(first) * sizeof(float), out.size_bytes());
    return;
  }
  const std::uint8_t* bytes = values_.data() + first;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(bytes[i]) * (4.0F / 255) - 2;
}

Result<std::int64_t> Dataset::class_of(std::int64_t sample) const {
  VERIFY(sample >= 0 && sample < items());
  const std::int64_t label = choice_at(sample);
  const Status known = parts_.check_choice(sample, label);
  if (!known.ok()) return known.error().prefixed("read the run's data");
  return label;
}

Result<TrainingData> open_training_data(const wire::RunManifest& manifest, const trainer_link::SharedBytes& file) {
  STARLING_ASSIGN(Dataset data, Dataset::open(manifest, file.bytes, wire::train_items_min(manifest)));
  const auto held =
      std::make_shared<const std::pair<Dataset, std::shared_ptr<const void>>>(std::move(data), file.owner);
  return TrainingData(held, &held->first);
}

}  // namespace starling::training
