// The model that simulated volunteers train in cells. An expert scales its input, value by value; gates know tokens by
// their names, and choose the same experts for a token in every window. So whatever comes of calls can be computed
// again directly, gradients are real, and experts that are trained come to those of a teacher.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "client/routing/trunk_task.h"
#include "shared/base/result.h"
#include "shared/run/run_manifest.h"
#include "tests/sim/cell_options.h"

namespace starling::sim {

// The run's manifest, whose cells begin with the digests that it names.
Result<wire::RunManifest> cell_run_of(const CellSwarmOptions& options);

// An expert's parameters are three vectors of the model's width: the scale of a value is their mean, over kStart.
float scale_of(std::span<const float> cell, std::size_t expert, std::size_t place, std::size_t width);

// Units of one cell, as serving::Batch has them.
struct ExpertUnits {
  std::span<const std::int32_t> counts;
  std::span<const std::int32_t> rows;
  std::span<const float> inputs;
  std::span<const float> upstream;  // on the way back
};
// The results, [units, width].
std::vector<float> results_of(std::span<const float> cell, const ExpertUnits& units, std::size_t width);
// The gradient of the inputs, [rows, width]; that of the cell's parameters is added to `gradient`.
std::vector<float> gradient_of(std::span<const float> cell, const ExpertUnits& units, std::size_t width,
                               std::span<float> gradient);

// The gate's score of an expert, by its scores for rows and columns.
float score_of(std::span<const float> scores, const wire::ExpertOptions& experts, std::int32_t expert);

// The trunk of one volunteer, with nothing in it to train: a token's first values come from its name, and a layer's
// values are the mixture of its experts' results.
class NamedTrunk {
 public:
  explicit NamedTrunk(const wire::ModelOptions& model, std::uint64_t seed) : model_(model), seed_(seed) {}

  // Computes a segment. Returns the micro-batch's loss, summed over samples, at the last one; 0 otherwise.
  double run(const routing::TrunkTask& task);
  // Nothing is under way any more.
  void forget() { micro_batches_.clear(); }

 private:
  // A task on the way back knows the results only.
  struct MicroBatch {
    std::vector<std::vector<std::int32_t>> places;  // by layer: TrunkTask::places
    std::vector<std::vector<float>> weights;        // by layer: [tokens, active]
    std::vector<std::vector<float>> scores;         // by layer: the gate's
    std::vector<float> gradient;                    // [tokens, width]
  };
  [[nodiscard]] std::size_t width() const { return static_cast<std::size_t>(model_.width); }
  [[nodiscard]] std::vector<float> first_values(const wire::SampleRange& samples) const;
  [[nodiscard]] std::vector<float> mixture(const routing::TrunkTask& task, MicroBatch& micro_batch) const;
  void write_scores(const routing::TrunkTask& task, MicroBatch& micro_batch) const;
  void write_upstream(const routing::TrunkTask& task, const MicroBatch& micro_batch) const;
  [[nodiscard]] double judge(const routing::TrunkTask& task, std::span<const float> values,
                             MicroBatch& micro_batch) const;
  [[nodiscard]] std::vector<float> taught(std::uint64_t token) const;

  wire::ModelOptions model_;
  std::uint64_t seed_;
  std::map<std::size_t, MicroBatch> micro_batches_;
};

}  // namespace starling::sim
