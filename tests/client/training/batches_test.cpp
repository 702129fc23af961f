#include "client/training/batches.h"

#include <ATen/ATen.h>

#include <set>
#include <vector>
// Comes after torch, because torch's CHECK must give way.
#include <doctest/doctest.h>

using namespace starling;
using namespace starling::training;

namespace {

wire::RunManifest manifest_of(int context, int peers_max) {
  wire::RunManifest manifest;
  manifest.model.context = context;
  manifest.peers_max = peers_max;
  manifest.micro_batch_size = 8;
  return manifest;
}

std::vector<std::uint8_t> counting_text(std::size_t size) {
  std::vector<std::uint8_t> text(size);
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<std::uint8_t>(i);
  return text;
}

Result<models::Batch> batch_of(const wire::RunManifest& manifest, const std::vector<std::uint8_t>& file,
                               const wire::SampleRange& range) {
  const auto data = Dataset::open(manifest, file, 1);
  REQUIRE(data.ok());
  return sample_batch(manifest, *data, range);
}

}  // namespace

TEST_CASE("a sample is a window of the text, its targets the same window one byte later") {
  const std::vector<std::uint8_t> text = counting_text(200);
  const auto batch = batch_of(manifest_of(10, 4), text, {3, 1, 0, 8});
  REQUIRE(batch.ok());
  REQUIRE(batch->at(0).sizes() == at::IntArrayRef({8, 10}));
  CHECK(at::equal(batch->at(1), batch->at(0) + 1));
}

TEST_CASE("lanes of a round never share a sample, and another round shuffles anew") {
  const std::vector<std::uint8_t> text = counting_text(200);  // starts 0..189, so the first byte names the sample
  const auto starts_of = [&](RoundIndex round) {
    std::vector<std::int64_t> starts;
    for (int lane = 0; lane < 4; ++lane) {
      for (SampleCount first = 0; first < 40; first += 8) {
        const auto batch = batch_of(manifest_of(10, 4), text, {round, lane, first, 8});
        REQUIRE(batch.ok());
        for (int row = 0; row < 8; ++row) starts.push_back(batch->at(0)[row][0].item<std::int64_t>());
      }
    }
    return starts;
  };
  const std::vector<std::int64_t> starts = starts_of(0);
  CHECK(std::set<std::int64_t>(starts.begin(), starts.end()).size() == starts.size());
  CHECK(starts_of(1) != starts);
}

TEST_CASE("a batch split in two has the samples of the whole") {
  const std::vector<std::uint8_t> text = counting_text(200);
  const auto whole = batch_of(manifest_of(10, 4), text, {0, 2, 5, 8});
  const auto front = batch_of(manifest_of(10, 4), text, {0, 2, 5, 3});
  const auto back = batch_of(manifest_of(10, 4), text, {0, 2, 8, 5});
  CHECK(at::equal(whole->at(0), at::cat({front->at(0), back->at(0)})));
}

TEST_CASE("samples outside the manifest are refused") {
  const std::vector<std::uint8_t> text = counting_text(200);
  for (const wire::SampleRange& range : {wire::SampleRange{0, 4, 0, 1},
                                         {0, -1, 0, 1},
                                         {-1, 0, 0, 1},
                                         {0, 0, -1, 1},
                                         {0, 0, 0, 0},
                                         {0, 0, 0, -3},
                                         {0, 0, 0, 9}}) {
    const auto batch = batch_of(manifest_of(10, 4), text, range);
    REQUIRE(!batch.ok());
    CHECK(batch.error().code == ErrorCode::invalid_argument);
  }
}
