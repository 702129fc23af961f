// A replica's state on this computer (the model's, the trunk's or a cell's): in its trainer's memory and under its
// name, the state before the last step, and the checkpoints on disk. Everything that changes or saves the state goes
// through here.
//
// Methods run where steps are taken (run_threads.h), if nothing else is said. Those that put another state in the place
// of this one run on the trainer thread, and wait for the steps under way.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/daemon/run_threads.h"
#include "client/daemon/snapshot_keeper.h"
#include "client/daemon/state_shelf.h"
#include "client/session/session.h"
#include "client/session/trainer.h"
#include "client/storage/audited_states.h"
#include "client/storage/checkpoint_store.h"
#include "client/storage/previous_state.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/run/run_manifest.h"

namespace starling::daemon {

// A state as it was opened; the snapshots are of the trainer's memory.
struct StateParts {
  std::unique_ptr<SnapshotKeeper> snapshots;
  std::shared_ptr<std::atomic<bool>> serving;  // true while others may download the state from here
  storage::CheckpointStore checkpoints;
  storage::PreviousState previous;
};

// Loads the newest checkpoint whose digest fits its name, or round 0, which begins with the state that the project has
// signed, into the trainer's memory. Trainer thread.
Result<session::InitialState> load_state(const wire::RunManifest& manifest, session::Trainer& trainer,
                                         StateParts& parts);

class StateKeeper {
 public:
  // Makes the state of round 0 in as many floats as the state has, without touching the trainer's.
  using MakeInitial = std::function<Status(std::span<float> into)>;

  // `threads` and `manifest` outlive this object. Neither `trainer` nor make_initial is used after the run has closed
  // the trainer.
  StateKeeper(RunThreads& threads, const wire::RunManifest& manifest, session::Trainer& trainer,
              MakeInitial make_initial, StateParts parts);

  // Keeps the state, then steps on the round's average; returns the name of the state after it.
  Result<Digest> step(RoundIndex round, std::span<const float> average);
  // Saves the state, which has this name, as a checkpoint. resource_exhausted: the disk is full.
  Status save(RoundIndex round, const Digest& digest);
  void forget_previous() { previous_.forget(); }
  // Keeps the parameters of the state before the last step, which this round began with, for audits.
  void keep_audited(RoundIndex round);
  void forget_audited(RoundIndex round) { audited_.forget(round); }
  // See storage::AuditedStates::parameters. Trainer thread, which is where steps are taken in runs with audits.
  [[nodiscard]] Result<std::span<const float>> audited(RoundIndex round, const Digest& state) const {
    return audited_.parameters(round, state);
  }

  // Puts a state of round `round`, whose content has been checked, in the place of this one. Trainer thread.
  void install(RoundIndex round, const Digest& digest, std::span<const float> state);
  // Goes back to the state before the last step. not_found unless that has this digest and was kept. Trainer thread.
  Status restore_previous(RoundIndex round, const Digest& digest);
  // Returns the state of round 0 without touching this one; an error if it is not the one that the project has signed.
  // Trainer thread.
  Result<std::vector<float>> make_initial() const;
  // Saves the state at the end of the run, as far as it is known to be one. Trainer thread, after the last step.
  void save_last(const session::Session::View& view);

  // Sets whether others may download the state from here; they may at first. From any thread.
  void serve(bool allowed) { *serving_ = allowed; }
  // Others may find the state on this shelf, until it is taken off. From any thread.
  void put_on(StateShelf& shelf) { shelf.put(*snapshots_, serving_); }
  void take_off(StateShelf& shelf) { shelf.take_away(*snapshots_); }
  // Length of a state in floats. From any thread.
  [[nodiscard]] std::size_t floats() const { return floats_; }
  // See SnapshotKeeper::prove. From any thread.
  [[nodiscard]] std::optional<Digest> prove(const Hash128& challenge, const Digest& digest) {
    return snapshots_->prove(challenge, digest);
  }
  // The state's memory, [parameters | moments], for those who read it where nothing changes it meanwhile. From any
  // thread.
  [[nodiscard]] std::span<const float> memory() const { return memory_; }
  // Returns a copy of the state with that digest, or null when it is not held. From any thread.
  [[nodiscard]] std::shared_ptr<const transport::StateSnapshot> find(RoundIndex round, const Digest& digest);
  // One sentence for each checkpoint that was found damaged at the start. From any thread.
  [[nodiscard]] const std::vector<std::string>& damaged() const { return damaged_; }

 private:
  RunThreads& threads_;
  const wire::RunManifest& manifest_;
  session::Trainer& trainer_;
  const MakeInitial make_initial_;
  std::unique_ptr<SnapshotKeeper> snapshots_;
  std::shared_ptr<std::atomic<bool>> serving_;
  storage::CheckpointStore checkpoints_;
  storage::PreviousState previous_;
  storage::AuditedStates audited_;
  const std::span<const float> memory_;
  const std::size_t floats_;
  const std::vector<std::string> damaged_;
};

}  // namespace starling::daemon
