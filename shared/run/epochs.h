// Passes over the data. An epoch has each sample once: every labelled one, or the windows of tokens that lie side by
// side. The coordinator leases them to members (SampleLease in messages.h). Every program computes the order of each
// epoch, and the sample at each place of it, from the manifest.
//
// Places follow each other shard by shard, so that a lease is cut from one shard; within a shard each epoch has its own
// seeded order.
#pragma once

#include <cstdint>
#include <vector>

#include "shared/base/ids.h"
#include "shared/run/run_manifest.h"
#include "shared/run/training_data.h"

namespace starling::wire {

// True if samples are leased: the manifest asks for epochs, and an epoch is at least a batch.
bool samples_in_epochs(const RunManifest& manifest);

// Samples of an epoch in each shard; one number where the data is one file.
std::vector<std::int64_t> epoch_samples(const RunManifest& manifest);

// The shard that the samples are cut from; 0 where there is one file.
std::size_t shard_of(const RunManifest& manifest, const SampleRange& samples);
// The shard that a reader of `samples` is likely to need next.
std::size_t next_shard(const RunManifest& manifest, const SampleRange& samples);

// Returns the item (token or labelled sample) of its shard that each sample begins at. invalid_argument where the
// samples are not the manifest's, or lie in several shards. `space`: sample_space of the file or the shard, or more.
Result<std::vector<std::int64_t>> sample_starts(const RunManifest& manifest, const SampleRange& samples,
                                                std::int64_t space);

}  // namespace starling::wire
