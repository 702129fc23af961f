// The daemon's end of the link: a Trainer that computes in a confined child process. The child may crash, hang, run out
// of memory or be killed at any moment: the running call fails with the reason, and the next one starts a new child.
// State, gradient and step journal always belong to this side.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/session/trainer.h"
#include "client/trainer_link/messages.h"
#include "client/trainer_link/restart_policy.h"
#include "shared/base/deadline.h"
#include "shared/base/unique_fd.h"
#include "shared/protocol/compute_device.h"
#include "shared/run/buckets.h"
#include "shared/run/run_manifest.h"

namespace starling::trainer_link {

class TaskLink;

// Everything that a child needs to train the run, handed to each new child. The process object owns the descriptors.
struct TrainerProcessOptions {
  std::filesystem::path program;         // starling-trainer
  std::vector<std::string> environment;  // "NAME=value", in addition to the few names that the child gets anyway
  wire::RunManifest manifest;            // checked by wire::check_manifest
  // The manifest's artefacts, open for reading, digests checked. None for a trainer without a piece (wire::kNoPiece).
  UniqueFd train_data;
  UniqueFd validation_data;
  // Replaces train_data in a run with shards: returns the samples' shard, open for reading, its digest checked. Called
  // before every batch, on the thread of the call; the batch fails with its error.
  std::function<Result<UniqueFd>(const wire::SampleRange& samples)> shard_for{};
  // Like shard_for, for audits, which fetch none: an error for a shard that is not here.
  std::function<Result<UniqueFd>(const wire::SampleRange& samples)> held_shard_for{};
  UniqueFd model_program;                    // program of a script, open for reading, digest checked
  std::filesystem::path initial_parameters;  // file of a script's parameters
  ChildLimits limits;
  DeadlineOptions deadlines{.unseen_work_per_s = 2e7};  // for every command but start; work in operations
  RestartOptions restarts;
};

// Share of the machine that the child may use, as far as it may change during the run.
struct TrainerShare {
  int threads = 1;                 // 1..kThreadsMax
  std::uint64_t memory_bytes = 0;  // private memory; 0: unlimited
  int gpu_memory_percent = 0;      // share of a graphics card's memory; 0: none is used

  friend bool operator==(const TrainerShare&, const TrainerShare&) = default;
};

// Figures for the volunteer's display, counted since the process object was made.
struct TrainerProcessView {
  int pid = 0;  // 0: no child is running
  std::int64_t starts = 0;
  std::int64_t deaths = 0;            // unrequested ones
  std::int64_t steps_taken_here = 0;  // optimizer steps that no child was there to take or finish
  std::string confinement;            // description of the last child's confinement
  // The device of the last child that was ready, with the reason where this object itself allows no card; unset: none
  // was ready yet.
  std::optional<wire::ComputeDevice> device{};
  std::string last_death;  // reason, and the call it happened in; empty: none so far
};

// The Trainer's calls and set_share() come from one thread, which must live as long as this object: to the kernel it is
// the child's parent. With delayed updates, step() and state() may come from another thread. stop() and view() may be
// called from any thread.
class TrainerProcess final : public session::Trainer {
 public:
  // Reserves the memory; the first call that computes starts the child. resource_exhausted when there is not enough
  // memory.
  static Result<std::unique_ptr<TrainerProcess>> create(TrainerProcessOptions options);
  ~TrainerProcess() override;

  [[nodiscard]] session::StateLayout layout() const override;
  std::span<float> state() override;
  // Own parameters of a run with local steps, as the running child has stepped them since its last begin_sum(). Values
  // that the caller writes count from the next batch on, including in that batch's increment. Meaningless once that
  // child has ended.
  std::span<float> own_parameters();
  // With gossip between rounds (wire::LocalOptions::partners): called within train_batch() for each bucket, once a
  // batch, when it has stepped. From then on own_parameters() of that bucket, and no others, are the caller's, though
  // the batch goes on. If the batch fails later, its steps are void.
  void on_bucket_stepped(std::function<void(const wire::Bucket&)> stepped);
  // Done here, without a child; fails only when a script's parameters cannot be read.
  Status initialize() override;
  // Makes the state of round 0 in layout().size() floats elsewhere; the replica stays unchanged.
  Status make_initial_state(std::span<float> into) const;
  void begin_sum() override;
  void begin_sum_ahead(RoundIndex round, std::span<const float> own_sum, SampleCount samples) override;
  Result<session::BatchReport> train_batch(const wire::SampleRange& samples, std::span<float> into) override;
  // The parameters are copied once, for the first audit at them; the copy is given up with the first batch after a
  // step. The gradient stays in the child, where it takes the place of a batch's.
  Status audit_batch(const wire::SampleRange& samples, std::span<const wire::SketchedPart> parts,
                     std::span<const float> parameters, std::span<double> sketches) override;
  // In a run that averages fragments, the gradient is the round's (wire::fragment_floats), and only the fragment steps.
  // Never fails because of the child: steps that a dead child left undone are done here, to the same bits. With delayed
  // updates the whole step is done here, while the child goes on with parameters of its own.
  Status step(RoundIndex round, std::span<const float> gradient) override;
  Result<session::Evaluation> evaluate() override;
  Result<std::vector<int>> sample_tokens(std::span<const int> prompt, int count, double temperature) override;

  // For the trunk of a model with cells: its tasks, and those of cells beside it. Thread of train_batch(), which such a
  // trainer has not. The reference lives as long as this object.
  TaskLink& tasks();
  // Adds the gradient of a window (TaskLink::begin_window) that is done; corrupt as train_batch(), with `into`
  // untouched.
  Status add_window(std::span<float> into);

  // Takes effect with the next call. A child with another share is ended; the next call that computes starts one with
  // this share.
  void set_share(const TrainerShare& wanted);
  // Frees the memory that the last audit's parameters take; the next audit brings its own. Thread of audit_batch().
  void end_audits();
  // Ends the child at once, and with it a call under way; all its memory is free when this returns. The state stays. A
  // later call starts a new child.
  void stop();
  [[nodiscard]] TrainerProcessView view() const;

 private:
  struct Impl;
  explicit TrainerProcess(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace starling::trainer_link
