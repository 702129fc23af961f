// Computes gradients and optimizer steps; knows nothing of peers. The product's is a sandboxed child
// process (client/trainer_link); the simulator's is a quadratic. Called from the trainer thread only.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/wire/training_data.h"

namespace starling::session {

struct BatchReport {
  SampleCount samples = 0;
  double loss_sum = 0;  // nats per predicted token, summed over samples
  double seconds = 0;   // compute time
};

struct Evaluation {
  double bits_per_byte = 0;
  std::int64_t bytes = 0;            // held-out bytes that were predicted
  std::optional<double> accuracy{};  // the share of words, or classes, that it held likeliest and that were right
};

// Everything a replica must agree on, as one flat vector: [parameters | optimizer vector 1 | 2 | …],
// each parameter_count floats. Its digest is what heartbeats compare; it is what donors send.
struct StateLayout {
  std::size_t parameter_count = 0;
  int optimizer_vectors = 0;  // wire::moment_vectors; AdamW: 2 (first and second moment)
  [[nodiscard]] std::size_t size() const { return parameter_count * static_cast<std::size_t>(1 + optimizer_vectors); }
};

class Trainer {
 public:
  virtual ~Trainer() = default;

  [[nodiscard]] virtual StateLayout layout() const = 0;
  // The replica's state (layout().size() floats). Lives as long as the Trainer, survives restarts of the
  // child. May be read and written by the caller while no call is running; what it writes counts from the next batch
  // on.
  virtual std::span<float> state() = 0;

  // Sets the state of round 0: seeded, and equal to the bit on every machine.
  virtual Status initialize() = 0;
  // What train_batch adds from now on is a new sum. Whoever computes at parameters of its own, because it steps locally
  // or because updates are delayed, goes back to the state's.
  virtual void begin_sum() {}
  // The same while `round` is averaged: what comes is the sum of the round after it. It is computed where a step with
  // this volunteer's own gradient of `round`, summed over `samples`, would lead, until the averaged step is done: that
  // is nearer to where it will lead than the present parameters are (local update of OD-SGD, arXiv 2005.06728).
  // Local steps go on from where they have led; eager ones (wire::LocalOptions) from there.
  virtual void begin_sum_ahead(RoundIndex /*round*/, std::span<const float> /*own_sum*/, SampleCount /*samples*/) {
    begin_sum();
  }
  // The averaged step is done, and local steps that went on meanwhile take it in: their sum stays what it is.
  virtual void merge_step() {}
  // Runs one micro-batch at the present parameters and adds its gradient, summed over samples, into
  // `into` (parameter_count floats); of a run with local steps (wire::LocalOptions), what the sum of samples times
  // displacement grows by. On failure `into` is untouched: a crash costs one micro-batch.
  // A gradient that is not finite is a failure (ErrorCode::corrupt), never added.
  virtual Result<BatchReport> train_batch(const wire::SampleRange& samples, std::span<float> into) = 0;
  // One optimizer step of round `round` on the mean gradient. Atomic: after a failure the state is as
  // before the call, and the step may be tried again. Where the run delays updates it may come from a thread of its
  // own, while batches are computed at the parameters before it; the next one begins at the new ones.
  virtual Status step(RoundIndex round, std::span<const float> gradient) = 0;
  // Held-out loss at the present parameters.
  virtual Result<Evaluation> evaluate() = 0;
  // The `count` words with which the model goes on from `prompt`, which may be empty, at the given temperature.
  virtual Result<std::vector<int>> sample_words(std::span<const int> prompt, int count, double temperature) = 0;
};

}  // namespace starling::session
