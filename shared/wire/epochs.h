// Passes over the data. An epoch has each sample once: every labelled one, or the windows of words that lie side by
// side. The coordinator leases them to members (SampleLease in messages.h); what every epoch's order is, and which
// sample lies at which place of it, everybody computes from the manifest.
//
// Places follow each other shard by shard, so that a lease is cut from one shard; within a shard each epoch has its own
// seeded order.
#pragma once

#include <cstdint>
#include <vector>

#include "shared/base/ids.h"
#include "shared/wire/run_manifest.h"
#include "shared/wire/training_data.h"

namespace starling::wire {

// Whether samples are leased: the manifest wants epochs, and one of them is at least a batch.
bool samples_in_epochs(const RunManifest& manifest);

// Samples of an epoch in each shard; of data that is one file, in that.
std::vector<std::int64_t> epoch_samples(const RunManifest& manifest);

// The shard that the samples are cut from; 0 where there is one file.
std::size_t shard_of(const RunManifest& manifest, const SampleRange& samples);
// The one that whoever reads `samples` is likely to need next.
std::size_t next_shard(const RunManifest& manifest, const SampleRange& samples);

// The item (word or labelled sample) of its shard that each sample begins at. invalid_argument where the samples are
// not the manifest's, or lie in several shards. `space`: of the file or the shard, as sample_space has it, or more.
Result<std::vector<std::int64_t>> sample_starts(const RunManifest& manifest, const SampleRange& samples,
                                                std::int64_t space);

}  // namespace starling::wire
