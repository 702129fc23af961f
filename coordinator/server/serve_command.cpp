#include <fmt/core.h>
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "coordinator/api/api.h"
#include "coordinator/gate/address.h"
#include "coordinator/gate/gate.h"
#include "coordinator/server/arguments.h"
#include "coordinator/server/commands.h"
#include "coordinator/server/handover.h"
#include "coordinator/server/leadership.h"
#include "coordinator/server/metrics.h"
#include "coordinator/server/people.h"
#include "coordinator/server/run_beginning.h"
#include "coordinator/server/staged_artefacts.h"
#include "coordinator/server/trainers_seen.h"
#include "coordinator/server/training.h"
#include "coordinator/web/operator_site.h"
#include "coordinator/web/past_run_page.h"
#include "coordinator/web/site.h"
#include "shared/base/files.h"
#include "shared/base/log.h"
#include "shared/base/log_limit.h"
#include "shared/base/service_manager.h"
#include "shared/base/settled_clock.h"
#include "shared/base/version.h"
#include "shared/crypto/secrets.h"
#include "shared/reach/relay_server.h"
#include "shared/run/model_layout.h"
#include "shared/swarm/hourly_traffic.h"

namespace starling::server {
namespace {

constexpr Duration kPollInterval = std::chrono::milliseconds(500);  // interval of reading operators' settings
constexpr Duration kWaitMax = std::chrono::milliseconds(100);
constexpr Duration kWaitMin = std::chrono::milliseconds(2);

// Raises the limit of descriptors to all that the system gives, because each connection takes one.
void allow_many_connections() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// Blocks SIGTERM and SIGINT in this thread and those it starts, so that they can be waited for.
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

Result<gate::GateOptions> gate_options(const ServeOptions& options, const ProjectConfig& config) {
  gate::GateOptions gate;
  gate.address = config.listen.host;
  gate.port = config.listen.port;
  gate.workers = options.workers;
  gate.limits.connections_per_address_max = options.connections_per_address;
  gate.limits.body_bytes_max = wire::kJsonBytesMax;
  for (const std::string& proxy : options.trusted_proxies) {
    const auto address = gate::parse_address(proxy, 0);
    if (!address)
      return Error{ErrorCode::invalid_argument, fmt::format("--trusted-proxy: '{}' is no IP address", proxy)};
    gate.trusted_proxies.push_back(gate::address_of(address->storage).text);
  }
  return gate;
}

std::optional<web::ShownRun> shown(const api::RunService& run) {
  const auto served = run.served();
  if (!served) return std::nullopt;
  const wire::RunManifest& manifest = served->manifest;
  const swarm::SwarmPace pace{served->swarm.samples_per_s, static_cast<double>(served->swarm.swarm_size)};
  return web::ShownRun{manifest.run_id,
                       manifest.title,
                       served->swarm,
                       manifest.rounds_max,
                       manifest.flops_per_sample,
                       static_cast<std::int64_t>(wire::parameter_count(manifest.model)),
                       swarm::hourly_traffic(manifest, pace).all()};
}

// The run that the leader serves, as far as the database knows it: for a server that does not lead.
std::optional<web::ShownRun> shown_from_afar(const db::RunStore& store) {
  const auto runs = store.list();
  const db::Run* run = runs ? api::choose_run(*runs, "") : nullptr;
  if (run == nullptr || run->retired.unix_ms != 0) return std::nullopt;
  auto read = web::read_past_run(*run);
  return read ? std::optional<web::ShownRun>(std::move(*read)) : std::nullopt;
}

struct Listeners {
  const gate::Gate* gate = nullptr;
  const reach::RelayServer* relay = nullptr;
};

web::ServerHealth health(WallTime started, const db::Database& database, const Listeners& listeners) {
  const db::DatabaseHealth files = database.health();
  const gate::GateStats stats = listeners.gate->stats();
  web::ServerHealth health{started,         true, !files.disk_full, stats.connections_open, stats.requests_served,
                           files.file_bytes};
  if (listeners.relay != nullptr) health.relay_bytes = listeners.relay->stats().bytes_total;
  return health;
}

web::ServerView server_view(const Observed& observed) {
  web::ServerView view{
      health(observed.started, observed.database, {&observed.gate, observed.relay}),
      observed.leadership.leads() ? shown(observed.run) : shown_from_afar(observed.database.stores().training.runs),
      {},
      "",
      observed.certificate_ends};
  if (const auto backup = last_backup(observed.project.files)) view.last_backup = backup->at;
  view.backup_failure = observed.backups.state().failure;
  if (const auto served = observed.run.served()) view.failing = served->failing;
  view.devices = observed.run.devices();
  view.classes = observed.run.numeric_classes();
  return view;
}

// The TLS identity that this computer shows to its callers.
Result<crypto::TlsContext> as_coordinator(const Project& project, const ServerIdentity& identity) {
  return crypto::TlsContext::coordinator_server(project.authority.certificate_pem(), identity.volunteers,
                                                identity.browsers);
}

web::JoinAdvice join_advice(const Project& project) { return {link_with(project, ""), project.config.open_to_all}; }

// A gate that serves on a thread of its own until stop().
class GateThread {
 public:
  GateThread(gate::Gate& gate, std::atomic<bool>& ended)
      : gate_(gate), thread_([this, &ended] {
          status_ = gate_.run();
          ended = true;
        }) {}
  ~GateThread() { (void)stop().ok(); }
  GateThread(const GateThread&) = delete;
  GateThread& operator=(const GateThread&) = delete;

  // Returns the reason why it ended: ok() when it was asked to.
  Status stop() {
    gate_.stop();
    if (thread_.joinable()) thread_.join();
    return status_;
  }

 private:
  gate::Gate& gate_;
  Status status_;
  std::thread thread_;  // last: it uses the other members
};

Result<std::unique_ptr<gate::Gate>> public_gate(const ServeOptions& options, const ProjectConfig& config,
                                                const crypto::TlsContext& tls, const gate::Router& router) {
  STARLING_ASSIGN(const gate::GateOptions gate, gate_options(options, config));
  return gate::Gate::create(gate, tls, router);
}

// The gate of the operator's page; nothing when none is asked for.
Result<std::unique_ptr<gate::Gate>> admin_gate(const ServeOptions& options, const crypto::TlsContext& tls,
                                               const gate::Router& router) {
  if (options.admin.empty()) return std::unique_ptr<gate::Gate>();
  STARLING_ASSIGN(const net::Endpoint at, parse_endpoint(options.admin));
  gate::GateOptions gate;
  gate.address = at.host;
  gate.port = at.port;
  gate.workers = 2;  // one may be checking a password while the other answers a probe
  auto opened = gate::Gate::create(gate, tls, router);
  if (!opened) return opened.error().prefixed("--admin");
  return opened;
}

// The operator's page, metrics and probes, behind a gate of their own. `observed` must outlive it.
struct OperatorsDoor {
  OperatorsDoor(const Observed& observed, const std::string& secret)
      : site({observed.project.config.name, observed.database.stores(), observed.clock, secret,
              [&observed] { return server_view(observed); }}) {
    add_admin_routes(router, observed);
    site.add_routes(router);
  }

  web::OperatorSite site;
  gate::Router router;
  std::unique_ptr<gate::Gate> gate;  // null: none is asked for
};

Result<std::unique_ptr<OperatorsDoor>> open_operators_door(const ServeOptions& options, const crypto::TlsContext& tls,
                                                           const Observed& observed, const std::string& secret) {
  auto door = std::make_unique<OperatorsDoor>(observed, secret);
  STARLING_ASSIGN(door->gate, admin_gate(options, tls, door->router));
  return door;
}

// Parts of the server that need attention from time to time.
struct TimedParts {
  Leadership& leadership;
  Training& training;
  People& people;
  operations::MaintenanceSign& maintenance;
  BackupKeeper& backups;
  const db::Stores& stores;
  const Clock& clock;
  TrainersSeen& trainers;
};

// Takes the lead or gives it up, according to the database. Only the leader looks at runs, which begins those that it
// serves.
Status look_at_lead(const TimedParts& parts) {
  const bool led = parts.leadership.leads();
  const Status looked = parts.leadership.look();
  if (led && !parts.leadership.leads()) parts.training.run.step_down();
  STARLING_TRY(looked);
  if (!parts.leadership.leads()) return {};
  if (!led) parts.training.checkpoints.clear();
  return parts.training.run.poll();
}

// A failure that repeats at every look is logged now and then; the first one has most likely caused the others too.
void look_after(const TimedParts& parts, const Clock& clock, LogLimit& complaints) {
  const auto tell = [&](std::string_view what, const Status& status) {
    if (!status.ok() && complaints.admit(clock.now())) log_error("{}: {}", what, status.error().message);
  };
  tell("look at the runs", look_at_lead(parts));
  tell("look at the bans", parts.people.bans.refresh());
  tell("look at revocations", parts.training.hosts.refresh());
  tell("look at who is kept out", parts.people.denied.refresh());
  tell("look at maintenance", parts.maintenance.refresh(parts.stores.operation.settings));
  if (parts.leadership.leads()) {
    const api::RunService& run = parts.training.run;
    parts.trainers.look(
        run.served(), [&run] { return run.devices(); }, clock.now());
    tell("look at backups", parts.backups.look());
    tell("sums of the last day and week", parts.stores.credit.standings.roll(clock.wall_now()));
  }
}

// Runs the timers until a signal comes or something breaks.
void work(const TimedParts& parts, const sigset_t& signals, const std::atomic<bool>& broken, ServiceManager& manager) {
  const Clock& clock = parts.clock;
  LogLimit complaints;
  TimePoint next_look = clock.now() + kPollInterval;
  manager.ready();
  while (!broken) {
    const TimePoint deadline = parts.training.run.tick();
    const TimePoint now = clock.now();
    if (now >= next_look) {
      next_look = now + kPollInterval;
      look_after(parts, clock, complaints);
      manager.alive(now);
    }
    const Duration wait = deadline == kNever ? kWaitMax : std::clamp(deadline - now, kWaitMin, kWaitMax);
    if (wait_for_signal(signals, wait)) break;
  }
  manager.ending();
  log_info("ending");
}

void announce(const Project& project, std::uint16_t port) {
  fmt::print("listening on https://{}\n", format_endpoint({project.config.listen.host, port}));
  std::fflush(stdout);
  log_info("starling-coordinator {} serves '{}'", kVersion, project.config.name);
}

// Serves until `work` returns, which it does when it is asked to or something broke.
Status serve_at(gate::Gate& gate, gate::Gate* admin, std::atomic<bool>& broken, const std::function<void()>& work) {
  GateThread serving(gate, broken);
  std::optional<GateThread> serving_admin;
  if (admin != nullptr) serving_admin.emplace(*admin, broken);
  work();
  const bool asked = !broken;
  if (serving_admin) STARLING_TRY(serving_admin->stop());
  STARLING_TRY(serving.stop());
  if (!asked) return Error{ErrorCode::io, "the database failed; see the log"};
  return {};
}

// The database calls this when nothing more can be stored.
std::function<void(const Error&)> breaking(std::atomic<bool>& broken) {
  return [&broken](const Error& error) {
    log_error("{}; ending, since nothing more can be stored", error.message);
    broken = true;
  };
}

// Several processes may serve a project, unless its database is a file.
bool is_shared(const Project& project) { return !project.config.database.empty(); }

Result<Project> project_to_serve(const ServeOptions& options) {
  STARLING_ASSIGN(Project project, load_project(options.directory));
  if (!options.listen.empty()) {
    STARLING_ASSIGN(project.config.listen, parse_endpoint(options.listen));
  }
  return project;
}

Result<std::optional<FileLock>> lock_to_serve(const Project& project) {
  if (is_shared(project)) return std::optional<FileLock>();
  STARLING_ASSIGN(FileLock lock, lock_against_serving(project));
  return std::optional<FileLock>(std::move(lock));
}

// Opens the database like open_database(), and signs runs whose initial state is not signed yet.
Result<std::unique_ptr<db::Database>> database_to_serve(const Project& project, const Clock& clock,
                                                        std::atomic<bool>& broken) {
  STARLING_ASSIGN(auto database, open_database(project, {.clock = &clock, .on_fatal = breaking(broken)}));
  STARLING_TRY(sign_beginnings(project, desk_of(*database, clock)));
  return database;
}

// The address at which the project's other servers reach this one; nothing: there can be no others.
Result<std::optional<std::string>> internal_address(const ServeOptions& options, const Project& project) {
  if (!is_shared(project)) return std::optional<std::string>();
  net::Endpoint at = project.config.listen;
  if (!options.internal.empty()) {
    STARLING_ASSIGN(at, parse_endpoint(options.internal));
  }
  if (!is_wildcard(at.host)) return std::optional(format_endpoint(at));
  log_warning(
      "another server of this project could not reach this one at {}: before you start one, add --internal HOST:{}",
      at.host, at.port);
  return std::optional(std::string());
}

Result<std::unique_ptr<Handover>> open_handover(const Project& project, const Leadership& leadership,
                                                const std::string& secret) {
  if (!is_shared(project)) return std::unique_ptr<Handover>();
  STARLING_ASSIGN(auto tls, crypto::TlsContext::coordinator_client(project.authority.certificate_pem(), std::nullopt));
  return std::make_unique<Handover>(leadership, std::move(tls), secret);
}

}  // namespace

Status serve(const ServeOptions& options) {
  STARLING_ASSIGN(const Project project, project_to_serve(options));
  ServiceManager manager;
  const sigset_t signals = hold_signals();
  allow_many_connections();
  STARLING_ASSIGN(const auto lock, lock_to_serve(project));
  StagedArtefacts::remove_abandoned(project.files.artefacts());
  const SystemClock machine;
  const SleeplessClock elapsed;
  const SettledClock clock(machine, elapsed);
  const WallTime started = clock.wall_now();
  std::atomic<bool> broken = false;
  STARLING_ASSIGN(const auto database, database_to_serve(project, clock, broken));
  STARLING_ASSIGN(const ServerIdentity identity, server_identity(project, clock.wall_now()));
  STARLING_ASSIGN(const auto tls, as_coordinator(project, identity));
  operations::MaintenanceSign maintenance;
  STARLING_TRY(maintenance.refresh(database->stores().operation.settings));
  STARLING_ASSIGN(const auto people, open_people({project, options, database->stores(), clock, maintenance}));
  const std::string& secret = people->accounts.parts().secret;
  accounts::KeyedLimiter joins(crypto::random_u64(), clock.now(), api::kJoinLimits);
  api::CallLimits calls(crypto::random_u64(), clock.now());
  STARLING_ASSIGN(const auto training, open_training({project, options, identity, database->stores(), clock}));
  STARLING_ASSIGN(auto internal, internal_address(options, project));
  Leadership leadership(*database, std::move(internal));
  BackupKeeper backups(project, *database, clock);
  TrainersSeen trainers(project);
  const TimedParts parts{leadership, *training, *people, maintenance, backups, database->stores(), clock, trainers};
  STARLING_TRY(look_at_lead(parts));
  gate::Router router;
  const api::Api api{project.config.name,
                     project.files.artefacts(),
                     project.root.to_pem(),
                     project.authority,
                     database->stores(),
                     training->hosts,
                     people->denied,
                     people->accounts,
                     joins,
                     calls,
                     training->run,
                     training->checkpoints,
                     maintenance,
                     clock,
                     project.config.copies_bytes};
  api::add_routes(router, api);
  Listeners listeners{nullptr, training->relay.get()};  // the gate is set before the first request
  const auto run_shown = [&] {
    return leadership.leads() ? shown(training->run) : shown_from_afar(database->stores().training.runs);
  };
  web::Site site({project.config.name, database->stores(), run_shown,
                  [&] { return health(started, *database, listeners); }, join_advice(project), clock,
                  web_root(project.config), secret, &maintenance, project.files.stats(),
                  [&] { return training->run.hosts(); }});
  site.add_routes(router);
  people->site.add_routes(router);
  STARLING_ASSIGN(const auto handover, open_handover(project, leadership, secret));
  if (handover) handover->divert(router);
  STARLING_ASSIGN(const auto gate, public_gate(options, project.config, tls, router));
  listeners.gate = gate.get();
  STARLING_ASSIGN(const WallTime certificate_ends, certificate_end(project));
  const Observed observed{project, *database, training->run,    *gate,   router,    training->relay.get(),
                          clock,   started,   certificate_ends, backups, leadership};
  STARLING_ASSIGN(const auto operators, open_operators_door(options, tls, observed, secret));

  return serve_at(*gate, operators->gate.get(), broken, [&] {
    announce(project, gate->port());
    work(parts, signals, broken, manager);
  });
}

}  // namespace starling::server
