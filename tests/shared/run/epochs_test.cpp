#include "shared/run/epochs.h"

#include <doctest/doctest.h>

#include <numeric>
#include <set>

using namespace starling;
using namespace starling::wire;

namespace {

RunManifest tokens(std::vector<std::int64_t> items) {
  RunManifest manifest;
  manifest.data.kind = DataKind::tokens;
  for (const std::int64_t count : items) manifest.data.shards.push_back({{}, count});
  manifest.model.context = 10;
  manifest.target_batch_size = 8;
  manifest.micro_batch_size = 4;
  return manifest;
}

SampleRange leased(std::int64_t epoch, SampleCount first, SampleCount count) { return {5, 0, first, count, epoch}; }

}  // namespace

TEST_CASE("an epoch has every labelled sample, or the windows of words that lie side by side") {
  CHECK(epoch_samples(tokens({101, 31, 11})) == std::vector<std::int64_t>{10, 3, 1});
  RunManifest labelled;
  labelled.data.kind = DataKind::labelled;
  labelled.data.train_items = 77;
  CHECK(epoch_samples(labelled) == std::vector<std::int64_t>{77});
}

TEST_CASE("samples are leased unless the manifest wants none of it, or a batch is more than all there is") {
  RunManifest manifest = tokens({101});
  CHECK(samples_in_epochs(manifest));
  manifest.target_batch_size = 11;
  CHECK_FALSE(samples_in_epochs(manifest));
  manifest.target_batch_size = 8;
  manifest.data.sampling = Sampling::independent;
  CHECK_FALSE(samples_in_epochs(manifest));
}

TEST_CASE("the places of an epoch are its samples, each once, in another order each epoch") {
  const RunManifest manifest = tokens({101, 31});
  std::vector<std::vector<std::int64_t>> orders;
  for (const std::int64_t epoch : {0, 1}) {
    std::set<std::pair<std::size_t, std::int64_t>> seen;
    for (std::int64_t place = 0; place < 13; ++place) {
      const SampleRange one = leased(epoch, place, 1);
      const std::size_t shard = shard_of(manifest, one);
      CHECK(shard == (place < 10 ? 0 : 1));
      const std::int64_t start = sample_starts(manifest, one, 0).value().front();
      CHECK(start % 10 == 0);
      CHECK(start + 10 < manifest.data.shards[shard].items);  // the last word has a next one
      CHECK(seen.emplace(shard, start).second);
    }
    orders.push_back(sample_starts(manifest, leased(epoch, 0, 4), 0).value());
    CHECK(orders.back()[2] == sample_starts(manifest, leased(epoch, 2, 1), 0)->front());
  }
  CHECK(orders[0] != orders[1]);
}

TEST_CASE("samples that are of no epoch, of two shards or too many are refused") {
  const RunManifest manifest = tokens({101, 31});
  CHECK(sample_starts(manifest, leased(0, 9, 1), 0).ok());
  CHECK_FALSE(sample_starts(manifest, leased(0, 9, 2), 0).ok());
  CHECK_FALSE(sample_starts(manifest, leased(0, 13, 1), 0).ok());
  CHECK_FALSE(sample_starts(manifest, leased(0, 0, 5), 0).ok());
  CHECK_FALSE(sample_starts(manifest, leased(0, -1, 1), 0).ok());
  CHECK_FALSE(sample_starts(manifest, leased(-2, 0, 1), 0).ok());
}
