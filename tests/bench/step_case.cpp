#include "tests/bench/step_case.h"

#include <cstring>
#include <utility>

#include "shared/base/permutation.h"
#include "shared/base/verify.h"
#include "shared/run/model_layout.h"
#include "shared/wire/safetensors.h"

namespace starling::bench {

namespace {

constexpr std::uint64_t kTokens = 1 << 18;
constexpr std::int64_t kImages = 512;

template <typename Number>
void append(std::vector<std::uint8_t>& file, Number value) {
  const std::size_t end = file.size();
  file.resize(end + sizeof value);
  std::memcpy(file.data() + end, &value, sizeof value);
}

std::vector<std::uint8_t> begin_file(std::vector<wire::TensorInfo> tensors) {
  const std::string head = wire::encode_tensor_head(tensors);
  return {head.begin(), head.end()};
}

std::vector<std::uint8_t> images(const wire::ModelOptions& model) {
  const std::vector<std::int64_t> shape{kImages, model.channels, model.image_size, model.image_size};
  std::vector<std::uint8_t> file =
      begin_file({{"inputs", wire::TensorType::u8, shape}, {"labels", wire::TensorType::i32, {kImages}}});
  const auto values = static_cast<std::uint64_t>(shape[0] * shape[1] * shape[2] * shape[3]);
  for (std::uint64_t i = 0; i < values; ++i) file.push_back(static_cast<std::uint8_t>(mix64(i)));
  for (std::int64_t i = 0; i < kImages; ++i) append(file, static_cast<std::int32_t>(i % model.classes));
  return file;
}

std::vector<std::uint8_t> tokens(const wire::ModelOptions& model) {
  std::vector<std::uint8_t> file =
      begin_file({{"tokens", wire::TensorType::u16, {static_cast<std::int64_t>(kTokens)}}});
  const auto choices = static_cast<std::uint64_t>(model.vocabulary - wire::kReservedTokens);
  for (std::uint64_t i = 0; i < kTokens; ++i) {
    append(file, static_cast<std::uint16_t>(wire::kReservedTokens + mix64(i) % choices));
  }
  return file;
}

std::vector<std::uint8_t> text() {
  std::vector<std::uint8_t> text(kTokens);
  for (std::size_t i = 0; i < text.size(); ++i) {
    text[i] = static_cast<std::uint8_t>(mix64(i) % 5 == 0 ? ' ' : 'a' + mix64(i) % 26);
  }
  return text;
}

}  // namespace

StepCase step_case(std::string_view name) {
  StepCase wanted{std::string(name), {}, 4};
  wire::RunManifest& manifest = wanted.manifest;
  wire::ModelOptions& model = manifest.model;
  manifest.peers_max = 1;
  manifest.micro_batch_size = 8;
  if (name == "gpt") {
    model.architecture = wire::Architecture::gpt;
    model.layers = 6;
    model.width = 384;
    model.heads = 6;
  } else if (name == "albert") {
    model.architecture = wire::Architecture::albert;
    manifest.data.kind = wire::DataKind::tokens;
    model.layers = 12;
    model.width = 768;
    model.heads = 12;
    model.mlp_width = 3072;
    model.embedding_width = 128;
    model.vocabulary = 30000;
    manifest.micro_batch_size = 2;
    wanted.micro_batches_a_step = 2;
  } else {
    VERIFY(name == "resnet");
    model.architecture = wire::Architecture::resnet;
    manifest.data.kind = wire::DataKind::labelled;
    model.layers = 18;
    manifest.micro_batch_size = 32;
    wanted.micro_batches_a_step = 1;
  }
  return wanted;
}

std::vector<std::uint8_t> step_data(const wire::RunManifest& manifest) {
  if (manifest.data.kind == wire::DataKind::labelled) return images(manifest.model);
  return manifest.data.kind == wire::DataKind::tokens ? tokens(manifest.model) : text();
}

}  // namespace starling::bench
