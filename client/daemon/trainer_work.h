// The trainer as a run uses it: the child process, the share of the computer that it may use, and the sources of what
// it needs (shards of the data, and the tokenizer). Control decides about the share; the trainer thread computes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "client/daemon/permission.h"
#include "client/daemon/run_threads.h"
#include "client/daemon/shard_keeper.h"
#include "client/rounds/batch_order.h"
#include "client/session/trainer.h"
#include "client/trainer_link/tokenizer_process.h"
#include "client/trainer_link/trainer_process.h"
#include "shared/base/mutex.h"
#include "shared/control/control.h"
#include "shared/protocol/compute_device.h"
#include "shared/run/run_manifest.h"

namespace starling::daemon {

// The means of a run's computations, opened for it.
struct TrainerParts {
  std::unique_ptr<ShardKeeper> shards;  // null where the run has none; outlives the trainer, which asks it
  // Trainer thread, except state() through a SnapshotKeeper, stop(), and step() where steps are taken elsewhere.
  std::unique_ptr<trainer_link::TrainerProcess> process;
  std::optional<trainer_link::TokenizerProcess> tokenizer;  // trainer thread; none where no text becomes tokens
};

class TrainerWork {
 public:
  // `threads` and `manifest` outlive this object.
  TrainerWork(RunThreads& threads, TrainerParts parts, const wire::RunManifest& manifest);

  // Sets the share. Work is ended in the middle if something of its share must be given back, or nothing is left. Call
  // it again and again, changed or not: a trainer that slipped through while it was starting is ended by the next call.
  // Control thread, like all methods without another.
  void obey(const Permission& permission) EXCLUDES(mutex_);
  // Sets whether the run is paused: once a pause has begun, the child is ended, and with it its memory is free.
  void rest(bool paused);
  // Fills in what computes, for the volunteer.
  void describe(wire::ComputingStatus& computing) const;
  // Returns the device that computes, for others; unset: not known yet.
  [[nodiscard]] std::optional<wire::ComputeDevice> device_for_others() const;
  // `arrived` is called on another thread when data has come that a batch had lacked.
  void on_data(std::function<void()> arrived);
  // Ends the child, and a computation under way: it may be long, and nobody will hear its result.
  void stop();
  // Lets everything go. Trainer thread, after stop().
  void close();

  // Computations in the place of the trainer's own (Trainer::train_batch, evaluate and sample_tokens).
  struct Instead {
    std::function<Result<session::BatchReport>(const wire::SampleRange& samples, std::span<float> into)> train_batch;
    std::function<Result<session::Evaluation>()> evaluate;
    // The scores of the token after this text, which is not empty.
    std::function<Result<std::vector<float>>(std::span<const int> text)> score_next;
  };
  // It comes before the first of them.
  void train_by(Instead instead) { instead_ = std::move(instead); }
  // Sets the trainer's share for what is computed next; false: nothing may be. Trainer thread.
  [[nodiscard]] bool take_share() EXCLUDES(mutex_);
  // Trains a batch with the present share, and begins it again if that changes meanwhile. Trainer thread.
  Result<session::BatchReport> train(const rounds::BatchOrder& order, const wire::SampleRange& samples);
  // Trainer thread.
  Result<session::Evaluation> evaluate();
  // Trainer::audit_batch with the present share. Trainer thread.
  Result<std::vector<double>> audit(const wire::SampleRange& samples, std::span<const wire::SketchedPart> parts,
                                    std::span<const float> parameters);
  // Continues a text by `count` tokens (or bytes), on the trainer thread; `done` runs there. Where others are asked for
  // each token, other work has its turn between two. From any thread.
  void sample_text(const std::string& prompt, int count, double temperature,
                   std::function<void(Result<std::string>)> done);

  // Until close().
  [[nodiscard]] trainer_link::TrainerProcess& process() const { return *parts_.process; }
  // Bytes that fetching the data has moved both ways.
  [[nodiscard]] std::int64_t wire_bytes() const { return parts_.shards != nullptr ? parts_.shards->wire_bytes() : 0; }

 private:
  [[nodiscard]] std::optional<trainer_link::TrainerShare> allowed_share() const EXCLUDES(mutex_);
  struct Continuation;
  void go_on(const std::shared_ptr<Continuation>& text);
  Result<std::vector<int>> tokens_of(const std::string& prompt) const;
  Result<std::string> text_of(std::span<const int> tokens, std::size_t first) const;

  RunThreads& threads_;
  TrainerParts parts_;
  Instead instead_;  // empty: the trainer's own
  const wire::RunManifest& manifest_;
  bool resting_ = false;
  CardRules card_;
  mutable Mutex mutex_;
  std::optional<trainer_link::TrainerShare> share_ GUARDED_BY(mutex_);  // empty: no training
};

}  // namespace starling::daemon
