// Everything that a run has open on this computer: its trainer and state, checkpoints, journal and links. For
// ProjectRun alone.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/averaging/error_feedback.h"
#include "client/averaging/power_sgd.h"
#include "client/daemon/project_run.h"
#include "client/daemon/shard_keeper.h"
#include "client/optim/gossip_step.h"
#include "client/session/fragment_sums.h"
#include "client/storage/previous_state.h"
#include "client/trainer_link/tokenizer_process.h"
#include "client/transport/port_mapper.h"
#include "shared/run/buckets.h"

namespace starling::daemon {

// Where the manifest asks for low-rank products: the vectors of the two averagings of a round.
struct LowRankParts {
  averaging::PowerSgd power;               // trainer thread
  std::array<std::vector<float>, 2> sent;  // by averaging
  std::array<std::vector<float>, 2> arrived;
  averaging::AveragingOutcome first;  // outcome of this round's first averaging
};

// Where the manifest asks for gossip between rounds.
struct GossipParts {
  std::vector<wire::Bucket> buckets;
  std::vector<session::Gossip> gossips;  // by bucket; control thread
  wire::GroupInfo last;                  // control thread: the plan of the last averaging
  std::vector<optim::GossipStep> steps;  // by bucket; trainer thread
  std::vector<float> sent;
  std::vector<float> mixed;
  std::int64_t stepped_child = -1;  // trainer thread: the child whose steps own parameters follow; -1: none
};

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
  std::vector<std::string> damaged;  // checkpoints found damaged at the start, in sentences
  // The trainer thread fills one gradient while the group may still ask for the other. Empty where there are fragments.
  std::array<std::vector<float>, 2> gradients;
  std::vector<float> averaged;
  // Where the manifest asks for it, without low-rank products: one for each fragment.
  std::vector<averaging::ErrorFeedback> feedback{};
  std::optional<session::FragmentSums> fragments{};  // in place of gradients, where rounds average fragments
  std::unique_ptr<LowRankParts> low_rank{};          // null where matrices travel whole
  std::unique_ptr<GossipParts> gossip{};             // null where there is no gossip between rounds
  // Where updates are delayed: steps, and everything else that changes or keeps the state, beside the trainer thread's
  // batches.
  std::unique_ptr<TaskLoop> stepper{};
};

// Opens everything and loads the newest checkpoint, or makes the state of round 0. The caller makes the session.
// Blocks: trainer thread.
Result<RunParts> open_run(CorrectedClock& clock, const RunOptions& options, const RunInputs& inputs);

}  // namespace starling::daemon
