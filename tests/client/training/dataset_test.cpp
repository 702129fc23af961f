#include "client/training/dataset.h"

#include <doctest/doctest.h>

#include "tests/client/training/data_files.h"

using namespace starling;
using namespace starling::training;
using namespace starling::training::testing;

namespace {

wire::RunManifest manifest_of(wire::DataKind kind, wire::Architecture architecture) {
  wire::RunManifest manifest;
  manifest.data.kind = kind;
  manifest.model.architecture = architecture;
  manifest.model.vocabulary = 30;
  manifest.model.image_size = 8;
  manifest.model.classes = 2;
  return manifest;
}

}  // namespace

TEST_CASE("tokens are read where they lie, with what is known of them") {
  const Bytes file = paired_tokens(50);
  const auto data = Dataset::open(manifest_of(wire::DataKind::tokens, wire::Architecture::gpt), file, 100);
  REQUIRE(data.ok());
  CHECK(data->items() == 100);
  std::vector<std::int64_t> tokens(4);
  REQUIRE(data->copy_tokens(96, tokens).ok());
  CHECK(tokens[1] == tokens[0] + 1);
  CHECK(data->starts_word(7));
  CHECK_FALSE(data->starts_word(8));
  CHECK(data->bytes_of_token(7) == 2);
}

TEST_CASE("labelled samples are values around zero and a class") {
  const Bytes file = two_kinds_of_images(10, 8);
  const auto data = Dataset::open(manifest_of(wire::DataKind::labelled, wire::Architecture::resnet), file, 1);
  REQUIRE(data.ok());
  CHECK(data->items() == 10);
  CHECK(data->value_shape() == std::vector<std::int64_t>{3, 8, 8});
  std::vector<float> values(192);
  data->copy_values(9, values);
  for (const float value : values) CHECK((value >= -2 && value <= 2));
  const auto label = data->class_of(9);
  REQUIRE(label.ok());
  CHECK((values[0] > values[191]) == (*label == 0));
}

TEST_CASE("data that does not fit the model is refused, with the reason") {
  const Bytes images = two_kinds_of_images(10, 8), tokens = paired_tokens(50);
  const auto refused = [](const wire::RunManifest& manifest, const Bytes& file, std::int64_t least) {
    const auto data = Dataset::open(manifest, file, least);
    return data.ok() ? "" : data.error().message;
  };
  CHECK(refused(manifest_of(wire::DataKind::tokens, wire::Architecture::gpt), images, 1).find("no tensor 'tokens'") !=
        std::string::npos);
  CHECK(refused(manifest_of(wire::DataKind::labelled, wire::Architecture::mlp), images, 1)
            .find("192 values each, and the model takes 784") != std::string::npos);
  CHECK(refused(manifest_of(wire::DataKind::tokens, wire::Architecture::gpt), tokens, 101)
            .find("100 words or samples where 101") != std::string::npos);
  CHECK_FALSE(refused(manifest_of(wire::DataKind::tokens, wire::Architecture::gpt), {1, 2, 3}, 1).empty());
  wire::RunManifest small = manifest_of(wire::DataKind::tokens, wire::Architecture::gpt);
  small.model.vocabulary = 20;
  const auto data = Dataset::open(small, tokens, 1);
  REQUIRE(data.ok());
  std::vector<std::int64_t> read(100);
  // Runs that were created before such data was refused: volunteers set a sample aside that is corrupt.
  CHECK(data->copy_tokens(0, read).error().code == ErrorCode::corrupt);
  wire::RunManifest one_class = manifest_of(wire::DataKind::labelled, wire::Architecture::resnet);
  one_class.model.classes = 1;
  const auto samples = Dataset::open(one_class, images, 1);
  REQUIRE(samples.ok());
  std::int64_t strange = 0;
  while (strange < 9 && samples->class_of(strange).ok()) ++strange;
  CHECK(samples->class_of(strange).error().code == ErrorCode::corrupt);
  CHECK(samples->class_of(strange).error().message.find("the model has 1 classes") != std::string::npos);
}
