// Everything that a run has open on this computer before its parts work together: the project's side (RunContext), and
// the trainer, the state, the disk and the network. For ProjectRun and its parts alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "client/daemon/coordinator_calls.h"
#include "client/daemon/corrected_clock.h"
#include "client/daemon/outgoing.h"
#include "client/daemon/run_preparation.h"
#include "client/daemon/state_keeper.h"
#include "client/daemon/state_shelf.h"
#include "client/daemon/trainer_work.h"
#include "client/session/session.h"
#include "client/storage/known_state.h"
#include "client/storage/project_files.h"
#include "client/storage/round_journal.h"
#include "client/transport/peer_network.h"
#include "shared/base/result.h"
#include "shared/crypto/keys.h"
#include "shared/net/line.h"
#include "shared/run/run_manifest.h"

namespace starling::daemon {

// Paths and addresses of this installation, equal for all runs.
struct RunOptions {
  std::filesystem::path trainer_program;
  std::string listen_host = "::";
  int listen_port = 0;
  Outgoing outgoing = {};
};

// The results of joining and preparing a run. `files`, `calls` and `line` outlive the run.
struct RunInputs {
  const storage::Project& project;
  const PreparedRun& prepared;
  const crypto::PrivateKey& key;
  storage::ProjectFiles& files;
  CoordinatorCalls& calls;
  net::Line& line;
};

// The run, this computer's membership, and the ways to the coordinator and the disk.
struct RunContext {
  wire::RunManifest manifest;
  crypto::PublicKey root;       // signs for the project, or certifies the key that does
  std::int64_t key_number = 0;  // the number of the key that signed the manifest
  storage::Project project;
  crypto::PrivateKey key;
  storage::ProjectFiles& files;
  CoordinatorCalls& calls;
  net::Line& line;
  std::filesystem::path folder;  // for files about the run's states: the project's, or a cell's own within that
};

struct RunParts {
  RunContext context;
  TrainerParts trainer;
  StateParts state;
  storage::RoundJournal journal;
  std::unique_ptr<transport::PeerNetwork> network;
  session::InitialState initial;
  storage::KnownState known;
  std::shared_ptr<StateShelf> shelf;  // the network's source; it has the state already
  std::int64_t cell_bytes = 0;        // PreparedRun
  std::int64_t desk_bytes = 0;        // likewise
};

// Opens everything and loads the newest checkpoint, or makes the state of round 0. Blocks: trainer thread.
Result<RunParts> open_run(CorrectedClock& clock, const RunOptions& options, const RunInputs& inputs);

}  // namespace starling::daemon
