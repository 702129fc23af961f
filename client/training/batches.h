// Data to tensors: the samples of a batch, and held-out ones to be judged by.
#pragma once

#include <cstdint>

#include "client/models/model.h"
#include "client/session/trainer.h"
#include "client/training/dataset.h"
#include "shared/base/result.h"
#include "shared/wire/run_manifest.h"
#include "shared/wire/training_data.h"

namespace starling::training {

// Words that an evaluation predicts at most: half a second's work for a small model on one core.
constexpr std::int64_t kEvaluatedWordsMax = 16 * 1024;
// Labelled samples that it judges at most.
constexpr std::int64_t kEvaluatedSamplesMax = 512;

// The samples of `range`, of which `data` is the file or the shard that they lie in (wire::lane_place).
// invalid_argument for a lane, round or count that the manifest does not allow, corrupt for data that the model has no
// use for. `reader`: for whom; memory that a graphics card reads by itself is pinned.
Result<models::Batch> sample_batch(const wire::RunManifest& manifest, const Dataset& data,
                                   const wire::SampleRange& range, const at::Device& reader = at::kCPU);

// The same tensors there. From pinned memory they are on their way when this returns, ahead of what the device is given
// to do next.
models::Batch on_device(models::Batch batch, const at::Device& device);

// What held-out data costs the model, the same samples every time, spread evenly over all there are. Of text whose next
// words are predicted: bits per byte, in windows of `context` words that overlap by half, of which only the second
// half is scored, so that every word is predicted from at least half a context. Else bits per sample. `device`: where
// the model is.
Result<session::Evaluation> evaluate_held_out(const models::Model& model, const wire::RunManifest& manifest,
                                              const Dataset& data, const at::Device& device);

}  // namespace starling::training
