// Figures for Prometheus, and whether the coordinator may take requests. No figure is about one volunteer.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "coordinator/api/run_service.h"
#include "coordinator/gate/gate.h"
#include "coordinator/gate/router.h"
#include "coordinator/server/backup.h"
#include "coordinator/server/leadership.h"
#include "coordinator/server/project.h"
#include "db/stores/database.h"
#include "shared/reach/relay_server.h"

namespace starling::server {

struct Observed {
  const Project& project;
  const db::Database& database;
  const api::RunService& run;
  const gate::Gate& gate;
  const gate::Router& router;       // the public gate's router
  const reach::RelayServer* relay;  // the operator's relay; null: none
  const Clock& clock;
  WallTime started;
  WallTime certificate_ends;
  const BackupKeeper& backups;
  const Leadership& leadership;
};

// The text format of Prometheus, version 0.0.4.
std::string metrics_text(const Observed& observed);
// ok() when the database reads and writes. The message says which of these fails.
Status ready(const Observed& observed);
// /healthz, /readyz and /metrics. `observed` must outlive the router.
void add_admin_routes(gate::Router& router, const Observed& observed);

}  // namespace starling::server
