// A trunk's micro-batches, computed task by task. A task is a pass of one segment (client/models/trunk.h) forth or
// back, and nothing in it waits: what experts have to be asked, and what they answer, goes through memory that the
// caller shares. Several micro-batches may be under way, each at a segment of its own.
//
// The tasks of a micro-batch, in this order: begin(), go_on() for each segment between the first and the last, turn(),
// and back() for each segment but the last. One whose predictions are only judged ends with judge() in place of turn().
// Any other order is refused, and changes nothing.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>

#include "client/models/model.h"
#include "shared/base/result.h"
#include "shared/run/model_options.h"

namespace starling::models {
class Trunk;
struct ExpertResults;
}  // namespace starling::models

namespace starling::training {

using MicroBatchId = std::int64_t;

class TrunkTasks {
 public:
  // `trunk`: wire::trunk_of a model. Each span has wire::parameter_count(trunk) floats and outlives this; backward adds
  // to `gradient`. bf16 as for Precision.
  TrunkTasks(const wire::ModelOptions& trunk, std::span<float> parameters, std::span<float> gradient, bool bf16);
  ~TrunkTasks();

  // The question to a layer's experts, written.
  struct Asking {
    std::span<float> inputs;   // [tokens, width]
    std::span<float> outputs;  // the gate's: [tokens, rows + columns]; [tokens, rows] for a grid of one column
  };
  // Who was asked, and what has come back. A result is that of one token through one expert.
  struct Answers {
    std::span<const std::int32_t> experts;  // [tokens, active]; below 0: nobody has answered
    std::span<const std::int32_t> places;   // by result: its place in `experts`
    std::span<float> results;               // [results, width]
  };

  Status begin(MicroBatchId id, models::Batch batch, const Asking& asking);
  Status go_on(MicroBatchId id, const Answers& answers, const Asking& asking);
  // The last segment, forth and back. The results are replaced by their gradient. Returns the loss, summed over the
  // samples; corrupt if it is not finite: then the micro-batch is dropped.
  Result<double> turn(MicroBatchId id, const Answers& answers);
  // The last segment, forth only: the next tokens' scores [tokens, vocabulary], and what was read. The micro-batch is
  // done.
  struct Scored {
    at::Tensor scores;
    models::Batch batch;
  };
  Result<Scored> judge(MicroBatchId id, const Answers& answers);
  // Takes the gradient of the inputs that this segment ended with, and writes that of the results with which it began,
  // as many as there were; none for the first segment, with which the micro-batch is done.
  Status back(MicroBatchId id, std::span<const float> inputs, std::span<float> results);

  // Ends a micro-batch before it is done. Its gradient so far stays added.
  void drop(MicroBatchId id);
  void drop_all();
  // Micro-batches under way.
  [[nodiscard]] std::size_t under_way() const { return micro_batches_.size(); }

 private:
  struct MicroBatch;
  struct Passed;

  // The micro-batch whose last segment is next, with these answers.
  Result<MicroBatch*> at_last(MicroBatchId id, const Answers& answers);
  Status end_segment(MicroBatch& micro_batch, Passed passed, const Asking& asking) const;
  // Keeps the results for the way back.
  [[nodiscard]] models::ExpertResults take(const Answers& answers, Passed& passed) const;
  [[nodiscard]] Status check(const MicroBatch& micro_batch, const Answers& answers) const;

  wire::ModelOptions options_;
  bool bf16_;
  std::unique_ptr<models::Trunk> trunk_;
  std::map<MicroBatchId, std::unique_ptr<MicroBatch>> micro_batches_;
};

}  // namespace starling::training
