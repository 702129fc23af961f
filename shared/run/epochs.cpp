#include "shared/run/epochs.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace starling::wire {
namespace {

constexpr std::uint64_t kEpochSeed = 0x65706f636873;  // keeps epochs apart from the rounds' orders

// Items from one window of an epoch to the next.
std::int64_t stride_of(const RunManifest& manifest) {
  return sample_form(manifest) == SampleForm::labelled ? 1 : manifest.model.context;
}

struct Place {
  std::size_t shard = 0;
  std::int64_t first = 0;  // place within the shard
  std::int64_t samples = 0;
};

// Returns the place of the range's first sample; past the last shard when there is no such place.
Place place_of(const RunManifest& manifest, const SampleRange& samples) {
  const std::vector<std::int64_t> counts = epoch_samples(manifest);
  Place place{0, samples.first, 0};
  while (place.shard < counts.size() && place.first >= counts[place.shard]) place.first -= counts[place.shard++];
  if (place.shard < counts.size()) place.samples = counts[place.shard];
  return place;
}

Result<std::vector<std::int64_t>> leased_starts(const RunManifest& manifest, const SampleRange& samples) {
  const Place place = place_of(manifest, samples);
  if (samples.count > place.samples - place.first) {
    return Error{ErrorCode::invalid_argument, fmt::format("train batch: places {}+{} of epoch {} are not of one shard",
                                                          samples.first, samples.count, samples.epoch)};
  }
  const std::uint64_t epoch = mix64(static_cast<std::uint64_t>(samples.epoch) ^ kEpochSeed);
  const SeededPermutation order(mix64(manifest.seed ^ mix64(epoch ^ place.shard)),
                                static_cast<std::uint64_t>(place.samples));
  std::vector<std::int64_t> starts;
  for (std::int64_t at = place.first; at < place.first + samples.count; ++at) {
    starts.push_back(static_cast<std::int64_t>(order.at(static_cast<std::uint64_t>(at))) * stride_of(manifest));
  }
  return starts;
}

}  // namespace

bool samples_in_epochs(const RunManifest& manifest) {
  if (manifest.data.sampling != Sampling::epochs) return false;
  const std::vector<std::int64_t> samples = epoch_samples(manifest);
  return std::accumulate(samples.begin(), samples.end(), std::int64_t{0}) >= manifest.target_batch_size;
}

std::vector<std::int64_t> epoch_samples(const RunManifest& manifest) {
  std::vector<std::int64_t> samples;
  for (std::size_t shard = 0; shard < std::max<std::size_t>(1, manifest.data.shards.size()); ++shard) {
    const std::int64_t space = sample_space(manifest, shard);
    samples.push_back(space > 0 ? (space - 1) / stride_of(manifest) + 1 : 0);
  }
  return samples;
}

std::size_t shard_of(const RunManifest& manifest, const SampleRange& samples) {
  if (samples.epoch == kNoEpoch) {
    return lane_place(manifest.data, manifest.seed, manifest.peers_max, samples.round, samples.lane).shard;
  }
  return std::min(place_of(manifest, samples).shard, std::max<std::size_t>(1, manifest.data.shards.size()) - 1);
}

std::size_t next_shard(const RunManifest& manifest, const SampleRange& samples) {
  if (samples.epoch != kNoEpoch) {
    return (shard_of(manifest, samples) + 1) % std::max<std::size_t>(1, manifest.data.shards.size());
  }
  SampleRange later = samples;
  later.round += manifest.data.shard_rounds;
  return shard_of(manifest, later);
}

Result<std::vector<std::int64_t>> sample_starts(const RunManifest& manifest, const SampleRange& samples,
                                                std::int64_t space) {
  const bool fits = samples.round >= 0 && samples.lane >= 0 && samples.lane < manifest.peers_max &&
                    samples.first >= 0 && samples.count >= 1 && samples.count <= manifest.micro_batch_size &&
                    samples.epoch >= kNoEpoch;
  if (!fits) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("train batch: round {}, lane {}, epoch {}, samples {}+{}: the manifest has {} lanes and "
                             "micro-batches of at most {}",
                             samples.round, samples.lane, samples.epoch, samples.first, samples.count,
                             manifest.peers_max, manifest.micro_batch_size)};
  }
  if (samples.epoch != kNoEpoch) return leased_starts(manifest, samples);
  const SeededPermutation order = round_permutation(manifest.seed, samples.round, space);
  const LanePlace place = lane_place(manifest.data, manifest.seed, manifest.peers_max, samples.round, samples.lane);
  std::vector<std::int64_t> starts;
  for (SampleCount k = samples.first; k < samples.first + samples.count; ++k) {
    starts.push_back(static_cast<std::int64_t>(order.at(sample_position(place.lane, k, place.lanes, space))));
  }
  return starts;
}

}  // namespace starling::wire
