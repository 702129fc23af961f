// Everything about the run that is served, assembled for the server.
#pragma once

#include <memory>

#include "coordinator/api/checkpoint_inbox.h"
#include "coordinator/api/host_table.h"
#include "coordinator/api/run_service.h"
#include "coordinator/server/commands.h"
#include "coordinator/server/project.h"
#include "shared/reach/relay_server.h"

namespace starling::server {

// References to everything that a run is served with. The server owns all of it.
struct TrainingParts {
  const Project& project;
  const ServeOptions& options;
  const ServerIdentity& identity;
  const db::Stores& stores;
  const Clock& clock;
};

// The served run, the computers that may train it, and the places where members meet and leave copies of its state.
struct Training {
  Training(const TrainingParts& parts, const core::CoordinatorOptions& options);

  api::HostTable hosts;
  api::RunService run;
  std::unique_ptr<reach::RelayServer> relay;  // the operator's own; null: none is asked for
  api::CheckpointInbox checkpoints;
};

// The objects that `parts` refers to must outlive the result. The errors name the option that will not do.
Result<std::unique_ptr<Training>> open_training(const TrainingParts& parts);

}  // namespace starling::server
