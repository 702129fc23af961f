// Data to tensors: the samples of a batch, and held-out samples for evaluation.
#pragma once

#include <cstdint>

#include "client/models/model.h"
#include "client/session/trainer.h"
#include "client/training/dataset.h"
#include "shared/base/result.h"
#include "shared/run/run_manifest.h"
#include "shared/run/training_data.h"

namespace starling::training {

// Most labelled samples that an evaluation judges.
constexpr std::int64_t kEvaluatedSamplesMax = 512;

// The samples of `range`; `data` is the file or the shard in which they lie (wire::lane_place). invalid_argument for a
// lane, round or count that the manifest does not allow, corrupt for data that does not fit the model. `reader` is the
// device that will read them: memory for a graphics card is pinned.
Result<models::Batch> sample_batch(const wire::RunManifest& manifest, const Dataset& data,
                                   const wire::SampleRange& range, const at::Device& reader = at::kCPU);

// Copies the tensors to the device. Copies from pinned memory are under way when this returns, ordered before the
// device's next work.
models::Batch on_device(models::Batch batch, const at::Device& device);

// Predictions of held-out text, batch by batch.
struct HeldOutSums {
  double nats = 0;
  std::int64_t bytes = 0;
  models::Hits hits{};
  // Adds the last `scored` tokens of each of the batch's rows; scores: [rows * length, vocabulary].
  void add(const at::Tensor& scores, const models::Batch& batch, std::int64_t scored, const Dataset& data);
  // Something was added.
  [[nodiscard]] session::Evaluation evaluation() const;
};
// These windows of the held-out text (wire::held_out_windows), from the `first`-th on.
Result<models::Batch> held_out_batch(const Dataset& data, int context, std::int64_t first, std::int64_t count);

// Mean loss on held-out data: identical samples every time, spread evenly over all data. For models that predict next
// tokens: bits per byte, in wire::held_out_windows. For others: bits per sample. `device`: the model's device.
Result<session::Evaluation> evaluate_held_out(const models::Model& model, const wire::RunManifest& manifest,
                                              const Dataset& data, const at::Device& device);

}  // namespace starling::training
