// The daemon's end of the link: a Trainer that computes in a confined child process. The child may crash,
// hang, run out of memory or be killed at any moment: the call that was running fails and says why, the
// next one starts a new child. State, gradient and step journal belong to this side all along.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "client/session/trainer.h"
#include "client/trainer_link/messages.h"
#include "client/trainer_link/restart_policy.h"
#include "shared/base/deadline.h"
#include "shared/base/unique_fd.h"
#include "shared/wire/buckets.h"
#include "shared/wire/run_manifest.h"

namespace starling::trainer_link {

struct TrainerProcessOptions {
  std::filesystem::path program;         // starling-trainer
  std::vector<std::string> environment;  // "NAME=value", beside the few names the child is given anyway
  wire::RunManifest manifest;            // has passed wire::check_manifest
  UniqueFd train_data;                   // the manifest's artefacts, open for reading, digests checked
  UniqueFd validation_data;
  // In place of train_data where the run has shards: that of the samples, open for reading, its digest checked. Asked
  // before every batch, on the thread of the call; the batch fails with its error.
  std::function<Result<UniqueFd>(const wire::SampleRange& samples)> shard_for{};
  UniqueFd model_program;                    // of a script, the same
  std::filesystem::path initial_parameters;  // of a script, the same
  ChildLimits limits;
  DeadlineOptions deadlines{.unseen_work_per_s = 2e7};  // of every command but start; work in operations
  RestartOptions restarts;
};

// What the child may take of the machine, as far as it may change while the run goes on.
struct TrainerShare {
  int threads = 1;                 // 1..kThreadsMax
  std::uint64_t memory_bytes = 0;  // private memory; 0: unlimited
  int gpu_memory_percent = 0;      // of a graphics card's memory; 0: none is used

  friend bool operator==(const TrainerShare&, const TrainerShare&) = default;
};

struct TrainerProcessView {
  int pid = 0;  // 0: no child is running
  std::int64_t starts = 0;
  std::int64_t deaths = 0;            // that nobody asked for
  std::int64_t steps_taken_here = 0;  // optimizer steps that no child was there to take or finish
  std::string confinement;            // of the last child, in words
  std::string last_death;             // why and when in what call; empty: none so far
};

// The Trainer's calls and set_share() come from one thread, which must live as long as this object: to the kernel it is
// the child's parent. So does step(), unless updates are delayed: then it may come from another one, and so may
// state(). stop() and view() may be called from any thread.
class TrainerProcess final : public session::Trainer {
 public:
  // Reserves the memory; the first call that computes starts the child. resource_exhausted when it is not to be had.
  static Result<std::unique_ptr<TrainerProcess>> create(TrainerProcessOptions options);
  ~TrainerProcess() override;

  [[nodiscard]] session::StateLayout layout() const override;
  std::span<float> state() override;
  // Of a run with local steps: where those have led the child that runs, since its last begin_sum(). What the caller
  // writes counts from the next batch on, also in what that adds. Of no meaning once that child has ended.
  std::span<float> own_parameters();
  // Where parameters are mixed between rounds (wire::LocalOptions::partners): called within train_batch() for each
  // bucket, once a batch, when it has stepped. own_parameters() of the bucket, and no others, are the caller's then,
  // though the batch goes on. A batch that fails later has come to nothing.
  void on_bucket_stepped(std::function<void(const wire::Bucket&)> stepped);
  // Done here, without a child; fails only where a script's parameters cannot be read.
  Status initialize() override;
  // The same state, into layout().size() floats elsewhere; the replica stays as it is.
  Status make_initial_state(std::span<float> into) const;
  void begin_sum() override;
  void begin_sum_ahead(RoundIndex round, std::span<const float> own_sum, SampleCount samples) override;
  Result<session::BatchReport> train_batch(const wire::SampleRange& samples, std::span<float> into) override;
  // Where rounds average fragments the gradient is the round's (wire::fragment_floats), and steps that alone.
  // Never fails because of the child: what a dead child left undone is done here, to the same bits. With delayed
  // updates all of it is done here, while the child goes on with parameters of its own.
  Status step(RoundIndex round, std::span<const float> gradient) override;
  Result<session::Evaluation> evaluate() override;
  Result<std::vector<int>> sample_words(std::span<const int> prompt, int count, double temperature) override;

  // For the next call. A child that has another share is ended; the next call that computes starts one with this.
  void set_share(const TrainerShare& wanted);
  // Ends the child at once, and with it a call under way; all its memory is free when this returns. The
  // state stays. A call that begins later starts a new child.
  void stop();
  [[nodiscard]] TrainerProcessView view() const;

 private:
  struct Impl;
  explicit TrainerProcess(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace starling::trainer_link
