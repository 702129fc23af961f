// Computes gradients and optimizer steps; knows nothing of peers. The product's is a sandboxed child process
// (client/trainer_link); the simulator's is a quadratic. Called from the trainer thread only.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/protocol/audit.h"
#include "shared/run/training_data.h"

namespace starling::session {

// A micro-batch that was computed and added to the sum.
struct BatchReport {
  SampleCount samples = 0;
  double loss_sum = 0;  // nats per predicted token, summed over samples
  double seconds = 0;   // compute time
};

// A measurement on the held-out data at one state.
struct Evaluation {
  double bits_per_byte = 0;
  std::int64_t bytes = 0;            // held-out bytes that were predicted
  std::optional<double> accuracy{};  // fraction of words, or classes, whose likeliest guess was right
};

// Everything that replicas must agree on, as one flat vector: [parameters | optimizer vector 1 | 2 | …], each
// parameter_count floats. Heartbeats compare its digest; donors send it.
struct StateLayout {
  std::size_t parameter_count = 0;
  int optimizer_vectors = 0;  // wire::moment_vectors; AdamW: 2 (first and second moment)
  [[nodiscard]] std::size_t size() const { return parameter_count * static_cast<std::size_t>(1 + optimizer_vectors); }
};

class Trainer {
 public:
  virtual ~Trainer() = default;

  [[nodiscard]] virtual StateLayout layout() const = 0;
  // Returns the replica's state (layout().size() floats). It lives as long as the Trainer and survives restarts of the
  // child. The caller may read and write it while no call is running; changes count from the next batch on.
  virtual std::span<float> state() = 0;

  // Sets the state of round 0: seeded, and equal to the bit on every machine.
  virtual Status initialize() = 0;
  // Starts a new sum for train_batch. A trainer that computes at parameters of its own, because it steps locally or
  // because updates are delayed, goes back to the state's.
  virtual void begin_sum() {}
  // Like begin_sum while `round` is averaged: the new sum is of the round after it. It is computed at the parameters
  // that a step with this volunteer's own gradient of `round`, summed over `samples`, would lead to, until the averaged
  // step is done: they are nearer to the result than the present parameters are (local update of OD-SGD, arXiv
  // 2005.06728). Local steps go on from where they have led; eager ones (wire::LocalOptions) from there.
  virtual void begin_sum_ahead(RoundIndex /*round*/, std::span<const float> /*own_sum*/, SampleCount /*samples*/) {
    begin_sum();
  }
  // Takes the averaged step, which is done, into local steps that went on meanwhile: their sum stays unchanged.
  virtual void merge_step() {}
  // Runs one micro-batch at the present parameters and adds its gradient, summed over samples, into `into`
  // (parameter_count floats). In a run with local steps (wire::LocalOptions) it adds the growth of the sum of samples
  // times displacement. On failure `into` is untouched: a crash costs one micro-batch. A gradient that is not finite is
  // a failure (ErrorCode::corrupt), never added.
  virtual Result<BatchReport> train_batch(const wire::SampleRange& samples, std::span<float> into) = 0;
  // Adds the sketches (swarm::add_to_sketch; wire::kSketchFloats numbers for each part) of the gradient, summed over
  // these samples, at `parameters` (layout().parameter_count floats, which are not the replica's) to `sketches`. The
  // state, and sums of train_batch, stay as they are. Fails like train_batch, and then `sketches` is untouched;
  // invalid_argument for a part that is not within the vector.
  virtual Status audit_batch(const wire::SampleRange& /*samples*/, std::span<const wire::SketchedPart> /*parts*/,
                             std::span<const float> /*parameters*/, std::span<double> /*sketches*/) {
    return Error{ErrorCode::unsupported, "this trainer audits nothing"};
  }
  // Takes one optimizer step of round `round` on the mean gradient. Atomic: after a failure the state is unchanged, and
  // the step may be tried again. Where the run delays updates it may come from a thread of its own, while batches are
  // computed at the parameters before it; the next one begins at the new ones.
  virtual Status step(RoundIndex round, std::span<const float> gradient) = 0;
  // Held-out loss at the present parameters.
  virtual Result<Evaluation> evaluate() = 0;
  // Returns the `count` tokens with which the model goes on from `prompt`, which may be empty, at the given
  // temperature.
  virtual Result<std::vector<int>> sample_tokens(std::span<const int> prompt, int count, double temperature) = 0;
};

}  // namespace starling::session
