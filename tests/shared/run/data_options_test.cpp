#include "shared/run/data_options.h"

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "shared/run/run_manifest.h"
#include "shared/run/training_data.h"

using namespace starling;
using namespace starling::wire;

namespace {

Artefact artefact(std::uint8_t name, std::int64_t bytes) {
  Artefact out;
  out.sha256.bytes.fill(name);
  out.bytes = bytes;
  return out;
}

RunManifest sharded(std::size_t shards = 3) {
  RunManifest manifest;
  manifest.run_id = "books-1";
  manifest.model.vocabulary = 8000;
  manifest.data.kind = DataKind::tokens;
  for (std::size_t i = 0; i < shards; ++i) {
    manifest.data.shards.push_back({artefact(static_cast<std::uint8_t>(1 + i % 255), 2'000'100), 1'000'000});
  }
  manifest.data.validation = artefact(0xee, 20'100);
  manifest.data.validation_items = 10'000;
  manifest.data.mirrors = {"https://a.example.org/books/", "https://127.0.0.1:8443/"};
  manifest.flops_per_sample = 1e9;
  return manifest;
}

std::string refusal(const std::function<void(RunManifest&)>& change) {
  RunManifest manifest = sharded();
  change(manifest);
  const Status status = check_manifest(manifest);
  return status.ok() ? "" : status.error().message;
}

bool names(const std::string& message, const std::string& field) {
  return message.find("run manifest: " + field + " is ") != std::string::npos;
}

}  // namespace

TEST_CASE("shards, mirrors and their authority travel in the manifest") {
  RunManifest manifest = sharded();
  manifest.data.mirror_ca = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n";
  manifest.data.shard_rounds = 7;
  const auto back = decode_manifest(encode_manifest(manifest));
  REQUIRE_MESSAGE(back.ok(), back.error().message);
  const DataOptions& data = back->data;
  REQUIRE(data.shards.size() == 3);
  CHECK(data.shards[2].file == manifest.data.shards[2].file);
  CHECK(data.shards[2].items == 1'000'000);
  CHECK(data.mirrors == manifest.data.mirrors);
  CHECK(data.mirror_ca == manifest.data.mirror_ca);
  CHECK(data.shard_rounds == 7);
  CHECK(data.train == Artefact());
}

TEST_CASE("the tokenizer of tokens travels in manifest and listing, and only theirs") {
  RunManifest manifest = sharded();
  CHECK(encode_manifest(manifest).find("tokenizer") == std::string::npos);
  manifest.data.tokenizer = artefact(0xaa, 800'000);
  const auto back = decode_manifest(encode_manifest(manifest));
  REQUIRE_MESSAGE(back.ok(), back.error().message);
  CHECK(back->data.tokenizer == manifest.data.tokenizer);
  CHECK(decode_listing(encode_listing(manifest.data))->tokenizer == manifest.data.tokenizer);

  const auto with_bytes = [](std::int64_t bytes) {
    return refusal([bytes](RunManifest& m) { m.data.tokenizer = artefact(0xaa, bytes); });
  };
  CHECK(with_bytes(kTokenizerBytesMax).empty());
  CHECK(names(with_bytes(kTokenizerBytesMax + 1), "data.tokenizer.bytes"));
  CHECK(names(with_bytes(0), "data.tokenizer.bytes"));
  CHECK(names(refusal([](RunManifest& m) {
                m.model = {.architecture = Architecture::mlp, .layers = 1, .width = 8, .inputs = 4, .classes = 2};
                m.data.kind = DataKind::labelled;
                m.data.tokenizer = artefact(0xaa, 1);
              }),
              "data.tokenizer"));
}

TEST_CASE("as many shards, mirrors and as large an authority as there may be still make a manifest") {
  RunManifest manifest = sharded(kShardsMax);
  manifest.data.mirrors.assign(kMirrorsMax, "https://a.example.org/" + std::string(kMirrorBytesMax - 23, 'x') + "/");
  manifest.data.mirror_ca.assign(kMirrorCaBytesMax, 'A');
  for (Shard& shard : manifest.data.shards) {
    shard.file.bytes = std::int64_t{1} << 36;
    shard.items = std::int64_t{1} << 35;
  }
  CHECK(manifest.data.mirrors[0].size() == kMirrorBytesMax);
  const auto back = decode_manifest(encode_manifest(manifest));
  CHECK_MESSAGE(back.ok(), back.error().message);
}

TEST_CASE("what makes no sense of shards is refused by its name") {
  CHECK(names(refusal([](RunManifest& m) { m.data.kind = DataKind::bytes, m.model.vocabulary = 256; }), "data.shards"));
  CHECK(names(refusal([](RunManifest& m) { m.data.train = artefact(9, 100); }), "data.train"));
  CHECK(names(refusal([](RunManifest& m) { m.data.train_items = 5; }), "data.train_items"));
  CHECK(names(refusal([](RunManifest& m) { m.data.shards[1].file.sha256 = {}; }), "data.shards[1].sha256"));
  CHECK(names(refusal([](RunManifest& m) { m.data.shards[1].file.bytes = 0; }), "data.shards[1].bytes"));
  CHECK(names(refusal([](RunManifest& m) { m.data.shards[2].items = m.model.context; }), "data.shards[2].items"));
  CHECK(names(refusal([](RunManifest& m) { m.data.shards.resize(kShardsMax + 1, m.data.shards[0]); }), "data.shards"));
  CHECK(
      names(refusal([](RunManifest& m) { m.data.validation.bytes = kHeldOutBytesMax + 1; }), "data.validation.bytes"));
  CHECK(names(refusal([](RunManifest& m) { m.data.shard_rounds = 0; }), "data.shard_rounds"));
  CHECK(names(refusal([](RunManifest& m) { m.data.mirrors.resize(kMirrorsMax + 1, m.data.mirrors[0]); }),
              "data.mirrors"));
  for (const char* mirror : {"http://a.org/", "https://a.org/shards", "ftp://a.org/", "", "https://a.org:70000/"}) {
    CAPTURE(mirror);
    CHECK(names(refusal([mirror](RunManifest& m) { m.data.mirrors[1] = mirror; }), "data.mirrors[1]"));
  }
  CHECK(names(refusal([](RunManifest& m) { m.data.mirrors.clear(), m.data.mirror_ca = "x"; }), "data.mirror_ca"));
  CHECK(names(refusal([](RunManifest& m) { m.data.shards[2].items = 200; }), "data.shards"));  // too few for a lane
}

TEST_CASE("a listing names shards, and nothing that is none") {
  DataOptions data = sharded().data;
  data.mirrors.clear();
  const std::string json = encode_listing(data);
  const auto back = decode_listing(json);
  REQUIRE_MESSAGE(back.ok(), back.error().message);
  CHECK(encode_listing(*back) == json);
  CHECK_FALSE(decode_listing("{}").ok());
  CHECK_FALSE(decode_listing("not json").ok());
  data.shards.clear();
  data.train = artefact(1, 100);
  CHECK_FALSE(decode_listing(encode_listing(data)).ok());
  data.shards.assign(1, {artefact(1, 100), 0});
  CHECK_FALSE(decode_listing(encode_listing(data)).ok());
}

TEST_CASE("lanes of a round never meet, whatever shard they are dealt") {
  for (const std::size_t shards : {1U, 3U, 7U, 40U}) {
    CAPTURE(shards);
    const DataOptions data = sharded(shards).data;
    constexpr int kLanes = 16;
    constexpr std::int64_t kSpace = 100;  // samples in each shard
    std::set<std::pair<std::size_t, std::uint64_t>> drawn;
    std::size_t samples = 0;
    for (int lane = 0; lane < kLanes; ++lane) {
      const LanePlace place = lane_place(data, 7, kLanes, 33, lane);
      REQUIRE(place.shard < shards);
      REQUIRE(place.lane < place.lanes);
      for (SampleCount k = 0; k < kSpace / place.lanes; ++k) {
        drawn.emplace(place.shard, sample_position(place.lane, k, place.lanes, kSpace));
        ++samples;
      }
    }
    CHECK(drawn.size() == samples);
  }
}

TEST_CASE("a lane keeps its shard for a stretch of rounds, and reads all of them in the end") {
  const DataOptions data = sharded(5).data;
  std::map<std::size_t, int> read;
  for (int stretch = 0; stretch < 1000; ++stretch) {
    const RoundIndex first = stretch * data.shard_rounds;
    const std::size_t shard = lane_place(data, 7, 256, first, 2).shard;
    CHECK(lane_place(data, 7, 256, first + data.shard_rounds - 1, 2).shard == shard);
    ++read[shard];
  }
  CHECK(read.size() == 5);
  for (const auto& shard : read) {
    CAPTURE(shard.first);
    CHECK(shard.second > 150);  // number of draws; 200 is the mean
    CHECK(shard.second < 250);
  }
}

TEST_CASE("without shards lanes are what they were: all of them on one file") {
  DataOptions data;
  const LanePlace place = lane_place(data, 7, 256, 99, 31);
  CHECK(place.shard == 0);
  CHECK(place.lane == 31);
  CHECK(place.lanes == 256);
  data.train.bytes = 1000;
  data.validation.bytes = 10;
  CHECK(data_bytes_held(data) == 1010);
  CHECK(data_bytes_held(sharded().data) == 2 * 2'000'100 + 20'100);
}
