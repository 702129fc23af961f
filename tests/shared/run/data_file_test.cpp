#include "shared/run/data_file.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <utility>

using namespace starling;
using wire::TensorType;

namespace {

using Bytes = std::vector<std::uint8_t>;

template <typename Number>
Bytes bytes_of(const std::vector<Number>& numbers) {
  Bytes bytes(numbers.size() * sizeof(Number));
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

Bytes file_of(const std::vector<std::pair<wire::TensorInfo, Bytes>>& tensors) {
  std::vector<wire::TensorInfo> infos;
  for (const auto& tensor : tensors) infos.push_back(tensor.first);
  const std::string head = wire::encode_tensor_head(infos);
  Bytes file(head.begin(), head.end());
  for (const auto& tensor : tensors) file.insert(file.end(), tensor.second.begin(), tensor.second.end());
  return file;
}

wire::RunManifest labelled() {
  wire::RunManifest manifest;
  manifest.data.kind = wire::DataKind::labelled;
  manifest.model.architecture = wire::Architecture::mlp;
  manifest.model.inputs = 4;
  manifest.model.classes = 3;
  return manifest;
}

wire::RunManifest tokens() {
  wire::RunManifest manifest;
  manifest.data.kind = wire::DataKind::tokens;
  manifest.model.vocabulary = 300;
  return manifest;
}

// Six samples of four values.
Bytes samples_file(TensorType inputs, TensorType labels, std::vector<std::int64_t> labels_shape, Bytes label_bytes,
                   std::vector<std::int64_t> inputs_shape = {6, 4}) {
  std::int64_t bytes = static_cast<std::int64_t>(wire::bytes_of(inputs));
  for (const std::int64_t side : inputs_shape) bytes *= side;
  return file_of({{{"inputs", inputs, std::move(inputs_shape)}, Bytes(static_cast<std::size_t>(bytes))},
                  {{"labels", labels, std::move(labels_shape)}, std::move(label_bytes)}});
}

// The reason why a file of this data is refused; empty if it is not. The file comes in pieces of `cut` bytes.
std::string refusal(const wire::RunManifest& manifest, const Bytes& file, std::size_t cut = 1000) {
  const auto parts = wire::find_data_parts(manifest, file, file.size(), 1);
  if (!parts) return parts.error().message;
  if (const Status sound = wire::check_new_parts(manifest, *parts); !sound.ok()) return sound.error().message;
  wire::DataPass pass(*parts);
  for (std::size_t at = 0; at < file.size(); at += cut) {
    const Status sound = pass.look_at(std::span(file).subspan(at, std::min(cut, file.size() - at)));
    if (!sound.ok()) return sound.error().message;
  }
  return "";
}

bool says(const std::string& text, std::string_view words) {
  CAPTURE(text);
  return text.find(words) != std::string::npos;
}

const Bytes kLabels = bytes_of<std::int32_t>({0, 1, 2, 0, 1, 2});

}  // namespace

TEST_CASE("data of the right form is taken, however the file is cut into pieces") {
  const Bytes file = samples_file(TensorType::f32, TensorType::i32, {6}, kLabels);
  for (std::size_t cut = 1; cut < 30; ++cut) CHECK(refusal(labelled(), file, cut).empty());
  CHECK(refusal(labelled(),
                samples_file(TensorType::u8, TensorType::i64, {6}, bytes_of<std::int64_t>({0, 1, 2, 0, 1, 2})))
            .empty());
  CHECK(refusal(labelled(), samples_file(TensorType::u8, TensorType::i32, {6}, kLabels, {6, 2, 2})).empty());
  CHECK(refusal(tokens(), file_of({{{"tokens", TensorType::u16, {3}}, bytes_of<std::uint16_t>({0, 7, 299})}})).empty());
  CHECK(refusal(tokens(), file_of({{{"tokens", TensorType::i32, {3}}, bytes_of<std::int32_t>({0, 7, 299})}})).empty());
  CHECK(refusal({}, {0, 128, 255}).empty());
}

TEST_CASE("a tensor of another type or shape is named, with its form and the one that is wanted") {
  const Bytes bytes = {0, 1, 2, 0, 1, 2};
  CHECK(says(refusal(labelled(), samples_file(TensorType::u8, TensorType::u8, {6}, bytes)),
             "'labels' is U8 [6], and must be I32 or I64 [6]"));
  CHECK(says(refusal(labelled(), samples_file(TensorType::u8, TensorType::i32, {6, 1}, kLabels)),
             "'labels' is I32 [6, 1], and must be"));
  CHECK(
      says(refusal(labelled(), samples_file(TensorType::u8, TensorType::i32, {6}, kLabels, {3, 4})), "I32 or I64 [3]"));
  CHECK(says(refusal(labelled(), samples_file(TensorType::u16, TensorType::i32, {6}, kLabels)),
             "'inputs' is U16 [6, 4]"));
  CHECK(says(refusal(labelled(), samples_file(TensorType::u8, TensorType::i32, {6}, kLabels, {6, 5})),
             "5 values each, and the model takes 4"));
  CHECK(says(refusal(labelled(), file_of({{{"labels", TensorType::i32, {6}}, kLabels}})), "no tensor 'inputs'"));
  CHECK(says(refusal(labelled(), samples_file(TensorType::u8, TensorType::i32, {0}, {}, {0, std::int64_t{1} << 40, 4})),
             "0 words or samples"));
  CHECK(says(refusal(tokens(), file_of({{{"tokens", TensorType::i64, {1}}, Bytes(8)}})), "'tokens' is I64 [1]"));
  CHECK(says(refusal(tokens(), file_of({{{"tokens", TensorType::u16, {2, 1}}, Bytes(4)}})), "of one dimension"));
  CHECK(says(refusal(tokens(), file_of({{{"text", TensorType::u16, {2}}, Bytes(4)}})), "no tensor 'tokens'"));
  CHECK_FALSE(refusal(tokens(), {'p', 'l', 'a', 'i', 'n'}).empty());
}

TEST_CASE("the first sample of a class that the model has not, and the first such token, are named") {
  for (const std::size_t cut : {1, 7, 1000}) {
    CHECK(says(
        refusal(labelled(),
                samples_file(TensorType::u8, TensorType::i32, {6}, bytes_of<std::int32_t>({0, 1, 2, 3, 9, 1})), cut),
        "'labels': sample 3 is of class 3, and the model has 3 classes"));
  }
  CHECK(says(refusal(labelled(),
                     samples_file(TensorType::u8, TensorType::i64, {6}, bytes_of<std::int64_t>({0, 1, 2, 0, 1, -1}))),
             "sample 5 is of class -1"));
  CHECK(says(refusal(tokens(), file_of({{{"tokens", TensorType::u16, {3}}, bytes_of<std::uint16_t>({0, 300, 299})}})),
             "'tokens': the token at place 1 is 300, and the model's vocabulary is 300"));
  CHECK(says(refusal(tokens(), file_of({{{"tokens", TensorType::i32, {2}}, bytes_of<std::int32_t>({-4, 0})}})),
             "place 0 is -4"));
}

TEST_CASE("samples with values that are not finite are counted, each once") {
  std::vector<float> values(24, 0.5F);
  values[9] = values[10] = NAN;
  values[23] = INFINITY;
  const Bytes file =
      file_of({{{"labels", TensorType::i32, {6}}, kLabels}, {{"inputs", TensorType::f32, {6, 4}}, bytes_of(values)}});
  const auto parts = wire::find_data_parts(labelled(), file, file.size(), 1);
  REQUIRE(parts.ok());
  wire::DataPass pass(*parts);
  REQUIRE(pass.look_at(file).ok());
  CHECK(pass.not_finite().samples == 2);
  CHECK(pass.not_finite().first == 2);
}

TEST_CASE("new pictures have their channels first, and a vocabulary no larger than the model's") {
  wire::RunManifest pictures = labelled();
  pictures.model.architecture = wire::Architecture::resnet;
  pictures.model.image_size = 8;
  pictures.model.channels = 3;
  const auto of_shape = [&](std::vector<std::int64_t> shape) {
    return refusal(pictures, samples_file(TensorType::u8, TensorType::i32, {6}, kLabels, std::move(shape)));
  };
  CHECK(of_shape({6, 3, 8, 8}).empty());
  CHECK(of_shape({6, 192}).empty());
  CHECK(says(of_shape({6, 8, 8, 3}), "channels first"));
  const Bytes words =
      file_of({{{"tokens", TensorType::u16, {2}}, Bytes(4)}, {{"word_starts", TensorType::u8, {301}}, Bytes(301)}});
  CHECK(says(refusal(tokens(), words), "vocabulary of 301"));
  CHECK(wire::find_data_parts(tokens(), words, words.size(), 1).ok());  // trainers of earlier runs
}
