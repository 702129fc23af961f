#include "shared/run/data_file.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <string>

namespace starling::wire {
namespace {

constexpr int kByteValues = 256;

Error bad(std::string why) { return {ErrorCode::corrupt, std::move(why)}; }

std::string form_of(const TensorInfo& tensor) {
  return fmt::format("{} [{}]", to_string(tensor.type), fmt::join(tensor.shape, ", "));
}

// Why a tensor is not the one that is wanted.
Error misfit(const std::vector<TensorInfo>& tensors, std::string_view name, std::string_view wanted) {
  const TensorInfo* found = find_tensor(tensors, name);
  if (found == nullptr) return bad(fmt::format("it has no tensor '{}', {}", name, wanted));
  return bad(fmt::format("its tensor '{}' is {}, and must be {}", name, form_of(*found), wanted));
}

bool is_one_of(const TensorInfo* tensor, TensorType one, TensorType other) {
  return tensor != nullptr && (tensor->type == one || tensor->type == other);
}

std::int64_t choices_of(const RunManifest& manifest) {
  if (manifest.data.kind == DataKind::bytes) return kByteValues;
  return manifest.data.kind == DataKind::labelled ? manifest.model.classes : manifest.model.vocabulary;
}

Status find_tokens(const std::vector<TensorInfo>& tensors, DataParts& parts) {
  const TensorInfo* tokens = find_tensor(tensors, "tokens");
  if (!is_one_of(tokens, TensorType::u16, TensorType::i32) || tokens->shape.size() != 1) {
    return misfit(tensors, "tokens", "U16 or I32 of one dimension");
  }
  parts.choices = *tokens;
  parts.items = tokens->elements();
  const auto facts = [&](const char* name) {
    const TensorInfo* tensor = find_tensor(tensors, name);
    return tensor != nullptr && tensor->type == TensorType::u8 ? std::optional(*tensor) : std::nullopt;
  };
  parts.word_starts = facts("word_starts");
  parts.word_bytes = facts("word_bytes");
  return {};
}

Status find_samples(const std::vector<TensorInfo>& tensors, DataParts& parts) {
  const TensorInfo* inputs = find_tensor(tensors, "inputs");
  const TensorInfo* labels = find_tensor(tensors, "labels");
  if (!is_one_of(inputs, TensorType::u8, TensorType::f32) || inputs->shape.empty()) {
    return misfit(tensors, "inputs", "U8 or F32, with the samples along its first dimension");
  }
  if (!is_one_of(labels, TensorType::i32, TensorType::i64) || labels->shape.size() != 1 ||
      labels->shape[0] != inputs->shape[0]) {
    return misfit(tensors, "labels", fmt::format("I32 or I64 [{}], one for each of 'inputs'", inputs->shape[0]));
  }
  parts.choices = *labels;
  parts.items = labels->elements();
  parts.values = *inputs;
  parts.values_each = parts.items > 0 ? inputs->elements() / parts.items : 0;
  parts.value_shape.assign(inputs->shape.begin() + 1, inputs->shape.end());
  return {};
}

template <typename Number>
std::int64_t read_number(const std::uint8_t* bytes) {
  Number number;
  std::memcpy(&number, bytes, sizeof number);
  return number;
}

}  // namespace

Status DataParts::check_choice(std::int64_t place, std::int64_t choice) const {
  if (choice >= 0 && choice < choices_count) return {};
  if (values) {
    return bad(fmt::format("its tensor 'labels': sample {} is of class {}, and the model has {} classes, from 0 on",
                           place, choice, choices_count));
  }
  return bad(fmt::format("its tensor 'tokens': the token at place {} is {}, and the model's vocabulary is {}", place,
                         choice, choices_count));
}

Result<DataParts> find_data_parts(const RunManifest& manifest, std::span<const std::uint8_t> start,
                                  std::uint64_t file_bytes, std::int64_t items_min) {
  DataParts parts;
  parts.choices_count = choices_of(manifest);
  if (manifest.data.kind == DataKind::bytes) {
    parts.items = static_cast<std::int64_t>(file_bytes);
    parts.choices = {"", TensorType::u8, {parts.items}, 0, file_bytes};
  } else {
    STARLING_ASSIGN(const auto tensors, read_tensor_head(start, file_bytes));
    STARLING_TRY(manifest.data.kind == DataKind::tokens ? find_tokens(tensors, parts) : find_samples(tensors, parts));
  }
  if (parts.items < items_min) {
    return bad(fmt::format("it has {} words or samples where {} are needed", parts.items, items_min));
  }
  const std::int64_t wanted = input_values(manifest.model);
  if (wanted != 0 && manifest.data.kind != DataKind::bytes && wanted != parts.values_each) {
    return bad(fmt::format("its samples have {} values each, and the model takes {}", parts.values_each, wanted));
  }
  return parts;
}

std::int64_t train_items_min(const RunManifest& manifest) {
  return sample_form(manifest) == SampleForm::labelled ? 1 : std::int64_t{manifest.model.context} + 1;
}

std::int64_t held_out_items_min(const RunManifest& manifest) {
  const bool parts_of_windows = sample_form(manifest) == SampleForm::next_token && !has_program(manifest.model);
  return parts_of_windows ? 2 : train_items_min(manifest);
}

Status check_new_parts(const RunManifest& manifest, const DataParts& parts) {
  const ModelOptions& model = manifest.model;
  if (parts.values && parts.values_each == 0) return bad("its tensor 'inputs' has no values");
  if (parts.values && model.architecture == Architecture::resnet && parts.value_shape.size() > 1) {
    const std::vector<std::int64_t> wanted = {model.channels, model.image_size, model.image_size};
    if (parts.value_shape != wanted) {
      return bad(
          fmt::format("its tensor 'inputs' is {}, and the model takes pictures of the shape [{}]: channels "
                      "first, each of image_size by image_size",
                      form_of(*parts.values), fmt::join(wanted, ", ")));
    }
  }
  if (parts.word_starts && parts.word_starts->elements() > model.vocabulary) {
    return bad(fmt::format("its tensor 'word_starts' is of a vocabulary of {} tokens, and model.vocabulary is {}",
                           parts.word_starts->elements(), model.vocabulary));
  }
  return {};
}

std::int64_t number_at(TensorType type, const std::uint8_t* bytes) {
  switch (type) {
    case TensorType::u16:
      return read_number<std::uint16_t>(bytes);
    case TensorType::i32:
      return read_number<std::int32_t>(bytes);
    case TensorType::i64:
      return read_number<std::int64_t>(bytes);
    default:
      return *bytes;
  }
}

DataPass::DataPass(const DataParts& parts) : parts_(parts), choices_(parts.choices, bytes_of(parts.choices.type)) {
  if (parts.values && parts.values->type == TensorType::f32) floats_.emplace(*parts.values, sizeof(float));
}

Status DataPass::look_at(std::span<const std::uint8_t> bytes) {
  const TensorType type = parts_.choices.type;
  if (type != TensorType::u8) {  // every byte is a token
    STARLING_TRY(choices_.add(bytes, [&](std::span<const std::uint8_t> numbers) -> Status {
      for (std::size_t at = 0; at < numbers.size(); at += bytes_of(type), ++next_choice_) {
        STARLING_TRY(parts_.check_choice(next_choice_, number_at(type, numbers.data() + at)));
      }
      return {};
    }));
  }
  if (!floats_) return {};
  return floats_->add(bytes, [&](std::span<const std::uint8_t> numbers) -> Status {
    for (std::size_t at = 0; at < numbers.size(); at += sizeof(float), ++next_float_) {
      float value = 0;
      std::memcpy(&value, numbers.data() + at, sizeof value);
      if (std::isfinite(value)) continue;
      const std::int64_t sample = next_float_ / parts_.values_each;
      if (not_finite_.samples == 0) not_finite_.first = sample;
      if (last_not_finite_ != sample) not_finite_.samples += 1;
      last_not_finite_ = sample;
    }
    return {};
  });
}

}  // namespace starling::wire
