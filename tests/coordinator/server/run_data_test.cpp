#include "coordinator/server/run_data.h"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>

#include "coordinator/dataset/digest_file.h"
#include "coordinator/dataset/out_folder.h"
#include "shared/base/files.h"
#include "shared/base/permutation.h"
#include "shared/crypto/digest.h"
#include "shared/wire/safetensors.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using server::take_data_over;

namespace {

std::string shard_text(std::int64_t items, std::uint64_t seed, int choices = 256) {
  std::vector<wire::TensorInfo> tensors = {{"tokens", wire::TensorType::u16, {items}},
                                           {"word_starts", wire::TensorType::u8, {300}}};
  std::string content = wire::encode_tensor_head(tensors);
  for (std::int64_t i = 0; i < items; ++i) {
    const auto token = mix64(seed << 32 | static_cast<std::uint64_t>(i)) % static_cast<std::uint64_t>(choices);
    content += {static_cast<char>(token & 0xff), static_cast<char>(token >> 8)};
  }
  return content + std::string(300, '\1');
}

wire::Shard a_shard(const std::filesystem::path& folder, std::int64_t items, std::uint64_t seed, int choices = 256) {
  auto file = dataset::DigestFile::create(folder).value();
  REQUIRE(file.write(shard_text(items, seed, choices)).ok());
  return {file.finish().value(), items};
}

constexpr std::string_view kTokenizer = "a tokenizer, for all that is looked at here";

struct Prepared {
  testing::TempDir folder;
  testing::TempDir project;
  manifest::OperatorManifest wanted;

  // `choices`: number of tokens that the second shard's are drawn from; the model knows 300.
  explicit Prepared(int choices = 256) {
    wire::DataOptions listed;
    listed.kind = wire::DataKind::tokens;
    listed.shards = {a_shard(folder.path(), 5000, 1), a_shard(folder.path(), 5001, 2, choices)};
    const wire::Shard held_out = a_shard(folder.path(), 400, 3);
    listed.validation = held_out.file;
    listed.validation_items = held_out.items;
    REQUIRE(write_file_atomically(folder / dataset::kTokenizerName, kTokenizer).ok());
    listed.tokenizer = {crypto::sha256(kTokenizer), static_cast<std::int64_t>(kTokenizer.size())};
    REQUIRE(write_file_atomically(folder / "shards.json", wire::encode_listing(listed)).ok());
    wanted.manifest.data.kind = wire::DataKind::tokens;
    wanted.manifest.model.vocabulary = 300;
    wanted.source.shards = folder / "shards.json";
  }
  [[nodiscard]] bool has(const wire::Artefact& file) const {
    return std::filesystem::exists(project / file.sha256.hex());
  }
};

}  // namespace

TEST_CASE("shards without mirrors are the coordinator's to serve; with mirrors what all need is") {
  Prepared prepared;
  REQUIRE(take_data_over(prepared.wanted, prepared.project.path()).ok());
  const wire::DataOptions& data = prepared.wanted.manifest.data;
  REQUIRE(data.shards.size() == 2);
  CHECK(prepared.has(data.shards[0].file));
  CHECK(prepared.has(data.shards[1].file));
  CHECK(prepared.has(data.validation));
  CHECK(data.validation_items == 400);
  CHECK(prepared.has(data.tokenizer));

  Prepared mirrored;
  mirrored.wanted.manifest.data.mirrors = {"https://mirror.example.org/"};
  REQUIRE(take_data_over(mirrored.wanted, mirrored.project.path()).ok());
  CHECK_FALSE(mirrored.has(mirrored.wanted.manifest.data.shards[0].file));
  CHECK(mirrored.has(mirrored.wanted.manifest.data.validation));
  CHECK(mirrored.has(mirrored.wanted.manifest.data.tokenizer));
}

TEST_CASE("shards of mirrors that lie beside the listing are compared with it") {
  Prepared prepared;
  prepared.wanted.manifest.data.mirrors = {"https://mirror.example.org/"};
  auto listed = wire::decode_listing(read_file(prepared.folder / "shards.json", 1 << 16).value());
  const std::filesystem::path second = prepared.folder / listed->shards[1].file.sha256.hex();
  const std::string sound = read_file(second, 1 << 20).value();
  REQUIRE(write_file_atomically(second, shard_text(5001, 9)).ok());
  const Status other = take_data_over(prepared.wanted, prepared.project.path());
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().code == ErrorCode::corrupt);
  CHECK(other.error().message.find("another digest") != std::string::npos);
  REQUIRE(write_file_atomically(second, sound).ok());
  CHECK(take_data_over(prepared.wanted, prepared.project.path()).ok());
  listed->shards[1].items += 1;
  REQUIRE(write_file_atomically(prepared.folder / "shards.json", wire::encode_listing(*listed)).ok());
  const Status miscounted = take_data_over(prepared.wanted, prepared.project.path());
  REQUIRE_FALSE(miscounted.ok());
  CHECK(miscounted.error().message.find("5001 tokens or samples instead of 5002") != std::string::npos);
}

TEST_CASE("a further run can be made from the listing that is kept of a run's shards") {
  Prepared prepared;
  REQUIRE(take_data_over(prepared.wanted, prepared.project.path()).ok());
  const auto listing = server::keep_listing(prepared.wanted.manifest.data, prepared.project.path());
  REQUIRE(listing.ok());
  manifest::OperatorManifest again = prepared.wanted;
  again.manifest.data.shards.clear();
  again.source.shards = *listing;
  REQUIRE(take_data_over(again, prepared.project.path()).ok());
  CHECK(wire::encode_listing(again.manifest.data) == wire::encode_listing(prepared.wanted.manifest.data));
}

TEST_CASE("a run from data that the project has already makes no second copy of it") {
  Prepared prepared;
  const std::filesystem::path artefacts = prepared.project.path();
  REQUIRE(take_data_over(prepared.wanted, artefacts).ok());
  const wire::DataOptions& data = prepared.wanted.manifest.data;
  manifest::OperatorManifest again = prepared.wanted;
  again.manifest.data.shards.clear();
  again.source.shards = server::keep_listing(data, artefacts).value();
  const testing::TempDir staged;
  const auto take = [&] { return take_data_over(again, staged.path(), false, artefacts / "."); };
  REQUIRE(take().ok());
  CHECK(wire::encode_listing(again.manifest.data) == wire::encode_listing(data));
  for (const wire::Artefact& file : {data.shards[0].file, data.shards[1].file, data.validation}) {
    CHECK_FALSE(std::filesystem::exists(staged / file.sha256.hex()));
    CHECK(prepared.has(file));
  }
  CHECK(std::filesystem::exists(staged / data.tokenizer.sha256.hex()));  // small

  manifest::OperatorManifest in_two_files;
  in_two_files.manifest = prepared.wanted.manifest;
  in_two_files.manifest.data.shards.clear();
  in_two_files.source.train = artefacts / data.shards[0].file.sha256.hex();
  in_two_files.source.validation = artefacts / data.validation.sha256.hex();
  const testing::TempDir other;
  REQUIRE(take_data_over(in_two_files, other.path(), false, artefacts).ok());
  CHECK(in_two_files.manifest.data.train == data.shards[0].file);
  CHECK(in_two_files.manifest.data.validation == data.validation);
  CHECK(std::filesystem::is_empty(other.path()));

  std::fstream(artefacts / data.shards[0].file.sha256.hex(), std::ios::in | std::ios::out).seekp(500).put('x');
  CHECK(take().error().code == ErrorCode::corrupt);
  CHECK(take_data_over(in_two_files, other.path(), false, artefacts).error().message.find("is damaged") !=
        std::string::npos);
}

TEST_CASE(
    "shards that were prepared before listings named tokenizers still make a run, and another tokenizer does not") {
  Prepared prepared;
  REQUIRE(write_file_atomically(prepared.folder / dataset::kTokenizerName, "another").ok());
  CHECK(take_data_over(prepared.wanted, prepared.project.path()).error().code == ErrorCode::corrupt);
  auto listed = wire::decode_listing(read_file(prepared.folder / "shards.json", 1 << 16).value());
  listed->tokenizer = {};
  REQUIRE(write_file_atomically(prepared.folder / "shards.json", wire::encode_listing(*listed)).ok());
  REQUIRE(take_data_over(prepared.wanted, prepared.project.path()).ok());
  CHECK(prepared.wanted.manifest.data.tokenizer == wire::Artefact());
}

TEST_CASE("a file that is not what the listing names, another kind and a larger vocabulary are refused") {
  Prepared prepared;
  manifest::OperatorManifest other_kind = prepared.wanted;
  other_kind.manifest.data.kind = wire::DataKind::labelled;
  CHECK(take_data_over(other_kind, prepared.project.path()).error().message.find("data.kind") != std::string::npos);
  manifest::OperatorManifest small = prepared.wanted;
  small.manifest.model.vocabulary = 256;
  CHECK(take_data_over(small, prepared.project.path()).error().message.find("vocabulary of 300") != std::string::npos);
  const auto listed = wire::decode_listing(read_file(prepared.folder / "shards.json", 1 << 16).value());
  std::fstream(prepared.folder / listed->shards[1].file.sha256.hex(), std::ios::in | std::ios::out).seekp(500).put('x');
  const Status damaged = take_data_over(prepared.wanted, prepared.project.path());
  REQUIRE_FALSE(damaged.ok());
  CHECK(damaged.error().code == ErrorCode::corrupt);
}

namespace {

std::string refusal(const Status& status) { return status.ok() ? "" : status.error().message; }

// A run on two files, of text if nothing else is said.
struct TwoFiles {
  testing::TempDir folder;
  testing::TempDir project;
  manifest::OperatorManifest wanted;

  TwoFiles(std::string_view train, std::string_view held_out) {
    wanted.source.train = folder / "train";
    wanted.source.validation = folder / "held_out";
    REQUIRE(write_file_atomically(wanted.source.train, train).ok());
    REQUIRE(write_file_atomically(wanted.source.validation, held_out).ok());
  }
  Status take(bool held_out_may_repeat = false) { return take_data_over(wanted, project.path(), held_out_may_repeat); }
};

std::string words_of(std::uint64_t seed, int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += std::to_string(mix64(seed << 32 | static_cast<std::uint64_t>(i)) % 9999) + " ";
  return text;
}

// Samples of two values, F32, of these classes.
std::string samples_file(const std::vector<std::int32_t>& classes, float value = 0.5F) {
  const auto count = static_cast<std::int64_t>(classes.size());
  std::vector<wire::TensorInfo> tensors = {{"inputs", wire::TensorType::f32, {count, 2}},
                                           {"labels", wire::TensorType::i32, {count}}};
  std::string content = wire::encode_tensor_head(tensors);
  for (std::int64_t i = 0; i < 2 * count; ++i) {
    const float number = i == 3 ? value : static_cast<float>(i) + 1000 * static_cast<float>(count);
    content.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  content.append(reinterpret_cast<const char*>(classes.data()), classes.size() * sizeof(std::int32_t));
  return content;
}

void label(manifest::OperatorManifest& wanted) {
  wanted.manifest.data.kind = wire::DataKind::labelled;
  wanted.manifest.model.architecture = wire::Architecture::mlp;
  wanted.manifest.model.inputs = 2;
  wanted.manifest.model.classes = 3;
}

}  // namespace

TEST_CASE("shards that no volunteer could train on are refused, with the file and the token") {
  Prepared prepared(2000);
  const std::string why = refusal(take_data_over(prepared.wanted, prepared.project.path()));
  CAPTURE(why);
  CHECK(why.find("'tokens': the token at place") != std::string::npos);
  const auto listed = wire::decode_listing(read_file(prepared.folder / "shards.json", 1 << 16).value());
  CHECK(why.find(listed->shards[1].file.sha256.hex()) != std::string::npos);
  // So they are where mirrors serve them, as far as they are here.
  prepared.wanted.manifest.data.mirrors = {"https://mirror.example.org/"};
  CHECK_FALSE(take_data_over(prepared.wanted, prepared.project.path()).ok());
  std::filesystem::remove(prepared.folder / listed->shards[1].file.sha256.hex());
  CHECK(take_data_over(prepared.wanted, prepared.project.path()).ok());
}

TEST_CASE("a listing that counts other items than its files have is refused") {
  Prepared prepared;
  auto listed = wire::decode_listing(read_file(prepared.folder / "shards.json", 1 << 16).value());
  listed->shards[0].items = 4000;
  REQUIRE(write_file_atomically(prepared.folder / "shards.json", wire::encode_listing(*listed)).ok());
  CHECK(refusal(take_data_over(prepared.wanted, prepared.project.path()))
            .find("5000 tokens or samples instead of 4000") != std::string::npos);
}

TEST_CASE("labelled files are refused with the file and the sample, training and held-out ones") {
  const std::string good = samples_file({0, 1, 2, 0, 1}), held_out = samples_file({0, 1, 2, 0});
  TwoFiles fine(good, held_out);
  label(fine.wanted);
  REQUIRE(refusal(fine.take()).empty());
  CHECK(fine.wanted.manifest.data.train_items == 5);
  CHECK(fine.wanted.manifest.data.validation_items == 4);

  TwoFiles strange(samples_file({0, 1, 2, 3, 1}), held_out);
  label(strange.wanted);
  const std::string why = refusal(strange.take());
  CHECK(why.find(strange.wanted.source.train.string()) != std::string::npos);
  CHECK(why.find("sample 3 is of class 3") != std::string::npos);
  TwoFiles strange_held_out(good, samples_file({0, 1, -1, 0}));
  label(strange_held_out.wanted);
  CHECK(refusal(strange_held_out.take()).find("held_out': its tensor 'labels': sample 2 is of class -1") !=
        std::string::npos);
}

TEST_CASE("a few samples with values that are not finite are borne, as volunteers set them aside, many are not") {
  const std::string held_out = samples_file({0, 1, 2, 0});
  TwoFiles few(samples_file(std::vector<std::int32_t>(500, 1), NAN), held_out);
  label(few.wanted);
  CHECK(refusal(few.take()).empty());
  TwoFiles many(samples_file({0, 1, 2, 0, 1}, NAN), held_out);
  label(many.wanted);
  CHECK(refusal(many.take()).find("1 of 9 samples have values that are not finite numbers, the first is sample 1") !=
        std::string::npos);
}

TEST_CASE("held-out data that stands in the training data is refused, unless it is asked for") {
  const std::string train = words_of(1, 5000);
  TwoFiles same(train, train);
  CHECK(refusal(same.take()).find("100 % of the held-out data") != std::string::npos);
  CHECK(refusal(same.take(true)).empty());
  TwoFiles part(train, train.substr(777, 5000));
  CHECK(refusal(part.take()).find("from byte 777 on") != std::string::npos);
  CHECK(refusal(TwoFiles(train, words_of(2, 500)).take()).empty());
  // A text that says everything twice, and is cut in two.
  TwoFiles twice(train + train, "");
  twice.wanted.source.validation.clear();
  twice.wanted.source.validation_fraction = 0.2;
  CHECK(refusal(twice.take()).find("held-out data") != std::string::npos);
  const std::string samples = samples_file({0, 1, 2, 0, 1});
  TwoFiles labelled(samples, samples);
  label(labelled.wanted);
  CHECK(refusal(labelled.take()).find("from sample 0 on") != std::string::npos);

  Prepared prepared;
  auto listed = wire::decode_listing(read_file(prepared.folder / "shards.json", 1 << 16).value());
  listed->validation = listed->shards[1].file;
  listed->validation_items = listed->shards[1].items;
  REQUIRE(write_file_atomically(prepared.folder / "shards.json", wire::encode_listing(*listed)).ok());
  CHECK(refusal(take_data_over(prepared.wanted, prepared.project.path())).find("held-out data") != std::string::npos);
}
