// Everything that a run has open on this computer: its trainer and state, checkpoints, journal and links. For
// ProjectRun alone.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/daemon/project_run.h"
#include "client/daemon/shard_keeper.h"
#include "client/rounds/gossip.h"
#include "client/storage/previous_state.h"
#include "client/trainer_link/tokenizer_process.h"
#include "client/transport/port_mapper.h"

namespace starling::daemon {

struct RunParts {
  wire::RunManifest manifest;
  storage::Project project;
  crypto::PrivateKey key;
  storage::ProjectFiles& files;
  CoordinatorCalls& calls;
  net::Line& line;
  std::unique_ptr<ShardKeeper> shards;  // null where the run has none; outlives the trainer, which asks it
  // Trainer thread, except state() through `snapshots`, stop(), and step() where there is a stepper, which calls it.
  std::unique_ptr<trainer_link::TrainerProcess> trainer;
  std::optional<trainer_link::TokenizerProcess> tokenizer;  // trainer thread; none where no text becomes tokens
  std::unique_ptr<SnapshotKeeper> snapshots;
  std::shared_ptr<std::atomic<bool>> serving;  // true while others may download the state from here
  storage::CheckpointStore checkpoints;
  storage::PreviousState previous;  // on the thread that steps
  storage::RoundJournal journal;
  std::unique_ptr<transport::PeerNetwork> network;
  std::unique_ptr<transport::PortMapper> port_mapper;  // null until others cannot dial this computer
  std::unique_ptr<session::Session> session;
  session::InitialState initial;
  std::vector<std::string> damaged;          // checkpoints found damaged at the start, in sentences
  rounds::RoundPayload payload;              // control thread; the vectors as its header says
  std::unique_ptr<rounds::Gossip> gossip{};  // null where there is none
  // Where updates are delayed: steps, and everything else that changes or keeps the state, beside the trainer thread's
  // batches.
  std::unique_ptr<TaskLoop> stepper{};
};

// Opens everything and loads the newest checkpoint, or makes the state of round 0. The caller makes the session.
// Blocks: trainer thread.
Result<RunParts> open_run(CorrectedClock& clock, const RunOptions& options, const RunInputs& inputs);

}  // namespace starling::daemon
