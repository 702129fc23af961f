#include "coordinator/server/run_data.h"

#include <doctest/doctest.h>

#include <fstream>

#include "coordinator/dataset/digest_file.h"
#include "coordinator/dataset/out_folder.h"
#include "shared/base/files.h"
#include "shared/crypto/digest.h"
#include "shared/wire/safetensors.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using server::take_data_over;

namespace {

wire::Shard a_shard(const std::filesystem::path& folder, std::int64_t items, char token) {
  std::vector<wire::TensorInfo> tensors = {{"tokens", wire::TensorType::u16, {items}},
                                           {"word_starts", wire::TensorType::u8, {300}}};
  auto file = dataset::DigestFile::create(folder).value();
  const std::string content =
      wire::encode_tensor_head(tensors) + std::string(static_cast<std::size_t>(2 * items), token);
  REQUIRE(file.write(content + std::string(300, '\1')).ok());
  return {file.finish().value(), items};
}

constexpr std::string_view kTokenizer = "a tokenizer, for all that is looked at here";

struct Prepared {
  testing::TempDir folder;
  testing::TempDir project;
  manifest::OperatorManifest wanted;

  Prepared() {
    wire::DataOptions listed;
    listed.kind = wire::DataKind::tokens;
    listed.shards = {a_shard(folder.path(), 5000, 1), a_shard(folder.path(), 5001, 2)};
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
