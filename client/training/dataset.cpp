#include "client/training/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

#include "shared/base/verify.h"

namespace starling::training {

namespace {

constexpr int kByteValues = 256;

Error bad(std::string_view why) { return {ErrorCode::corrupt, fmt::format("open the run's data: {}", why)}; }

std::span<const std::uint8_t> bytes_at(const wire::TensorInfo& tensor, std::span<const std::uint8_t> file) {
  return file.subspan(static_cast<std::size_t>(tensor.begin), static_cast<std::size_t>(tensor.end - tensor.begin));
}

std::int64_t product(const std::vector<std::int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

// Number of the model's tokens or classes.
std::int64_t choices_of(const wire::RunManifest& manifest) {
  const wire::ModelOptions& model = manifest.model;
  if (manifest.data.kind == wire::DataKind::bytes) return kByteValues;
  return manifest.data.kind == wire::DataKind::labelled ? model.classes : model.vocabulary;
}

template <typename Number>
Number number_at(std::span<const std::uint8_t> bytes, std::int64_t index) {
  Number value;
  std::memcpy(&value, bytes.data() + static_cast<std::size_t>(index) * sizeof value, sizeof value);
  return value;
}

}  // namespace

std::int64_t Dataset::Numbers::at(std::int64_t index) const {
  switch (type) {
    case wire::TensorType::u16:
      return number_at<std::uint16_t>(bytes, index);
    case wire::TensorType::i32:
      return number_at<std::int32_t>(bytes, index);
    case wire::TensorType::i64:
      return number_at<std::int64_t>(bytes, index);
    default:
      return bytes[static_cast<std::size_t>(index)];
  }
}

Result<Dataset> Dataset::open(const wire::RunManifest& manifest, std::span<const std::uint8_t> file,
                              std::int64_t items_min) {
  Dataset data;
  data.tokens_or_classes_ = choices_of(manifest);
  if (manifest.data.kind == wire::DataKind::bytes) {
    data.items_at_ = {wire::TensorType::u8, file};
    data.items_ = static_cast<std::int64_t>(file.size());
  } else {
    STARLING_ASSIGN(const auto tensors, wire::read_tensor_head(file, file.size()));
    STARLING_TRY(manifest.data.kind == wire::DataKind::tokens ? data.find_tokens(tensors, file)
                                                              : data.find_samples(tensors, file));
    const std::int64_t wanted = wire::input_values(manifest.model);
    if (wanted != 0 && wanted != data.values()) {
      return bad(fmt::format("its samples have {} values each, and the model takes {}", data.values(), wanted));
    }
  }
  if (data.items_ < items_min) {
    return bad(fmt::format("it has {} words or samples where {} are needed", data.items_, items_min));
  }
  return data;
}

Status Dataset::find_tokens(const std::vector<wire::TensorInfo>& tensors, std::span<const std::uint8_t> file) {
  const wire::TensorInfo* tokens = wire::find_tensor(tensors, "tokens");
  const bool fits = tokens != nullptr && tokens->shape.size() == 1 &&
                    (tokens->type == wire::TensorType::u16 || tokens->type == wire::TensorType::i32);
  if (!fits) return bad("it has no tensor 'tokens', U16 or I32 of one dimension");
  items_at_ = {tokens->type, bytes_at(*tokens, file)};
  items_ = tokens->elements();
  const auto facts = [&](const char* name) {
    const wire::TensorInfo* tensor = wire::find_tensor(tensors, name);
    const bool usable = tensor != nullptr && tensor->type == wire::TensorType::u8;
    return usable ? bytes_at(*tensor, file) : std::span<const std::uint8_t>();
  };
  word_starts_ = facts("word_starts");
  word_bytes_ = facts("word_bytes");
  return {};
}

Status Dataset::find_samples(const std::vector<wire::TensorInfo>& tensors, std::span<const std::uint8_t> file) {
  const wire::TensorInfo* inputs = wire::find_tensor(tensors, "inputs");
  const wire::TensorInfo* labels = wire::find_tensor(tensors, "labels");
  const bool inputs_fit = inputs != nullptr && !inputs->shape.empty() &&
                          (inputs->type == wire::TensorType::u8 || inputs->type == wire::TensorType::f32);
  if (!inputs_fit) return bad("it has no tensor 'inputs', U8 or F32");
  const bool labels_fit = labels != nullptr && labels->shape.size() == 1 &&
                          (labels->type == wire::TensorType::i32 || labels->type == wire::TensorType::i64) &&
                          labels->shape[0] == inputs->shape[0];
  if (!labels_fit) return bad("it has no tensor 'labels', I32 or I64, one for each of 'inputs'");
  values_ = {inputs->type, bytes_at(*inputs, file)};
  items_at_ = {labels->type, bytes_at(*labels, file)};
  items_ = labels->elements();
  value_shape_.assign(inputs->shape.begin() + 1, inputs->shape.end());
  return {};
}

Status Dataset::copy_tokens(std::int64_t first, std::span<std::int64_t> out) const {
  VERIFY(first >= 0 && first + static_cast<std::int64_t>(out.size()) <= items_);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = items_at_.at(first + static_cast<std::int64_t>(i));
  const auto strange = std::find_if(out.begin(), out.end(),
                                    [this](std::int64_t token) { return token < 0 || token >= tokens_or_classes_; });
  if (strange == out.end()) return {};
  return Error{ErrorCode::corrupt, fmt::format("read the run's data: it has token {}, and the model's vocabulary is {}",
                                               *strange, tokens_or_classes_)};
}

bool Dataset::starts_word(std::int64_t token) const {
  const auto index = static_cast<std::size_t>(token);
  return index >= word_starts_.size() || word_starts_[index] != 0;
}

int Dataset::bytes_of_token(std::int64_t token) const {
  if (items_at_.type == wire::TensorType::u8) return 1;
  const auto index = static_cast<std::size_t>(token);
  return index < word_bytes_.size() ? word_bytes_[index] : 0;
}

std::int64_t Dataset::values() const { return product(value_shape_); }

void Dataset::copy_values(std::int64_t sample, std::span<float> out) const {
  const std::int64_t first = sample * values();
  VERIFY(sample >= 0 && sample < items_ && static_cast<std::int64_t>(out.size()) == values());
  if (values_.type == wire::TensorType::f32) {
    std::memcpy(out.data(), values_.bytes.data() + static_cast<std::size_t>(first) * sizeof(float), out.size_bytes());
    return;
  }
  const std::uint8_t* bytes = values_.bytes.data() + first;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(bytes[i]) * (4.0F / 255) - 2;
}

Result<std::int64_t> Dataset::class_of(std::int64_t sample) const {
  VERIFY(sample >= 0 && sample < items_);
  const std::int64_t label = items_at_.at(sample);
  if (label >= 0 && label < tokens_or_classes_) return label;
  return Error{ErrorCode::corrupt, fmt::format("read the run's data: sample {} is of class {}, and the model has {}",
                                               sample, label, tokens_or_classes_)};
}

}  // namespace starling::training
