#include <fmt/core.h>
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <thread>

#include "coordinator/api/api.h"
#include "coordinator/gate/gate.h"
#include "coordinator/server/arguments.h"
#include "coordinator/server/commands.h"
#include "coordinator/web/site.h"
#include "shared/base/files.h"
#include "shared/base/log.h"
#include "shared/base/version.h"
#include "shared/manifest/join_link.h"
#include "shared/wire/model_layout.h"

namespace starling::server {
namespace {

constexpr Duration kPollInterval = std::chrono::milliseconds(500);  // of what operators set in the database
constexpr Duration kWaitMax = std::chrono::milliseconds(100);
constexpr Duration kWaitMin = std::chrono::milliseconds(2);

// A connection is a descriptor: take all that the system gives.
void allow_many_connections() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// SIGTERM and SIGINT are held back in this thread and those it starts, to be waited for.
sigset_t hold_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return signals;
}

// Waits for one of `signals`; false when none came within `patience`.
bool wait_for_signal(const sigset_t& signals, Duration patience) {
  const timespec limit{0, patience.count()};
  return ::sigtimedwait(&signals, nullptr, &limit) > 0;
}

gate::GateOptions gate_options(const ServeOptions& options, const ProjectConfig& config) {
  gate::GateOptions gate;
  gate.address = config.listen.host;
  gate.port = config.listen.port;
  gate.workers = options.workers;
  gate.limits.connections_per_address_max = options.connections_per_address;
  gate.limits.body_bytes_max = wire::kJsonBytesMax;
  return gate;
}

std::optional<web::ShownRun> shown(const api::RunService& run) {
  const auto served = run.served();
  if (!served) return std::nullopt;
  const wire::RunManifest& manifest = served->manifest;
  return web::ShownRun{manifest.run_id,
                       manifest.title,
                       served->swarm,
                       manifest.rounds_max,
                       manifest.flops_per_sample,
                       static_cast<std::int64_t>(wire::parameter_count(manifest.model))};
}

web::ServerHealth health(WallTime started, const db::Database& database, const gate::Gate& gate) {
  const db::DatabaseHealth files = database.health();
  const gate::GateStats stats = gate.stats();
  return {started, true, !files.disk_full, stats.connections_open, stats.requests_served, files.file_bytes};
}

web::JoinAdvice join_advice(const Project& project) {
  const net::Endpoint& at = project.config.public_at;
  return {manifest::format_join_link({at.host, at.port, project.authority.fingerprint(), ""}),
          project.config.open_to_all};
}

// Timers of the run until a signal, or until something broke.
void work(api::RunService& run, const db::Stores& stores, const sigset_t& signals, const std::atomic<bool>& broken) {
  const SystemClock clock;
  TimePoint next_poll = clock.now() + kPollInterval;
  while (!broken) {
    const TimePoint deadline = run.tick();
    const TimePoint now = clock.now();
    if (now >= next_poll) {
      next_poll = now + kPollInterval;
      if (const Status polled = run.poll(); !polled.ok()) log_error("{}", polled.error().message);
      if (const Status rolled = stores.standings.roll(clock.wall_now()); !rolled.ok()) {
        log_warning("sums of the last day and week: {}", rolled.error().message);
      }
    }
    const Duration wait = deadline == kNever ? kWaitMax : std::clamp(deadline - now, kWaitMin, kWaitMax);
    if (wait_for_signal(signals, wait)) return;
  }
}

}  // namespace

Status serve(const ServeOptions& options) {
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  const sigset_t signals = hold_signals();
  allow_many_connections();
  auto lock = FileLock::acquire(project.files.at("serve.lock"));
  if (!lock) return lock.error().prefixed(fmt::format("project '{}' is served already", project.config.name));

  const SystemClock clock;
  std::atomic<bool> broken = false;
  const auto on_fatal = [&broken](const Error& error) {
    log_error("{}; ending, since nothing more can be stored", error.message);
    broken = true;
  };
  STARLING_ASSIGN(const auto database, open_database(project, {.on_fatal = on_fatal}));
  STARLING_ASSIGN(const ServerIdentity identity, server_identity(project, clock.wall_now()));
  STARLING_ASSIGN(const auto tls, crypto::TlsContext::coordinator_server(project.authority.certificate_pem(),
                                                                         identity.volunteers, identity.browsers));
  const api::HostTable hosts(database->stores().accounts, clock);
  api::RunService run({database->stores(), hosts, clock, project.manifest_key.public_key()});
  STARLING_TRY(run.poll());

  gate::Router router;
  const api::Api api{project.config.name,
                     project.config.open_to_all,
                     project.files.artefacts(),
                     project.manifest_key.public_key().to_pem(),
                     project.authority,
                     database->stores(),
                     hosts,
                     run,
                     clock};
  api::add_routes(router, api);
  const gate::Gate* door = nullptr;  // set before the first request
  web::Site site({project.config.name, database->stores(), [&run] { return shown(run); },
                  [&, started = clock.wall_now()] { return health(started, *database, *door); }, join_advice(project),
                  clock});
  site.add_routes(router);

  STARLING_ASSIGN(const auto gate, gate::Gate::create(gate_options(options, project.config), tls, router));
  door = gate.get();
  Status served;
  std::thread gate_thread([&] {
    served = gate->run();
    broken = true;  // read after join(): either it was asked to stop, or it failed
  });
  fmt::print("listening on https://{}\n", format_endpoint({project.config.listen.host, gate->port()}));
  std::fflush(stdout);
  log_info("starling-coordinator {} serves '{}'", kVersion, project.config.name);
  work(run, database->stores(), signals, broken);
  const bool asked = !broken;
  log_info("ending");
  gate->stop();
  gate_thread.join();
  STARLING_TRY(served);
  if (!asked) return Error{ErrorCode::io, "the database failed; see the log"};
  return {};
}

}  // namespace starling::server
