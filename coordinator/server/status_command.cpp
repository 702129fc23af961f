// The command that shows a project's state at a glance.
#include <fmt/core.h>

#include <algorithm>

#include "coordinator/api/run_report.h"
#include "coordinator/operations/maintenance.h"
#include "coordinator/operations/runs.h"
#include "coordinator/server/backup.h"
#include "coordinator/server/commands.h"
#include "coordinator/server/leadership.h"
#include "coordinator/server/server_link.h"
#include "db/postgres/open.h"
#include "db/schema/migrate.h"
#include "db/sqlite/open.h"
#include "shared/base/calendar.h"
#include "shared/base/clock.h"
#include "shared/base/shell_words.h"
#include "shared/protocol/limits.h"
#include "shared/wire/json_reader.h"
#include "shared/wire/json_writer.h"

namespace starling::server {
namespace {

constexpr double kMsPerHour = 3'600'000;

// Figures from the running server; all zero when none runs.
struct Live {
  bool served = false;
  double uptime_s = 0;
  std::int64_t connections = 0;
  int computers = 0;
  int training = 0;
  int less_relied_on = 0;
  int sitting_out = 0;
  double samples_per_s = 0;
  std::string plan;
};

Live ask(const Project& project) {
  Live live;
  const auto body = ServerLink(project).get("/status.json");
  if (!body) return live;
  const auto document = wire::JsonDocument::parse(*body, wire::kReplyBytesMax);
  if (!document) return live;
  wire::JsonReader reader = document->root();
  reader.number("uptime_s", live.uptime_s, 0, 1e12);
  reader.integer("connections", live.connections, 0, INT32_MAX);
  if (reader.present("run")) {
    reader.object("run", [&](wire::JsonReader& run) {
      wire::read_int(run, "computers", live.computers, 0, INT32_MAX);
      wire::read_int(run, "training", live.training, 0, INT32_MAX);
      wire::read_int(run, "less_relied_on", live.less_relied_on, 0, INT32_MAX);
      wire::read_int(run, "sitting_out", live.sitting_out, 0, INT32_MAX);
      run.number("samples_per_s", live.samples_per_s, 0, 1e15);
      if (run.present("plan")) run.text("plan", live.plan, wire::kReasonBytesMax);
    });
  }
  live.served = reader.status().ok();
  return live.served ? live : Live{};
}

struct Overview {
  Live live;
  std::vector<db::Run> runs;
  std::vector<db::Totals> totals;                              // totals of each run
  std::vector<std::optional<db::KeptCheckpoint>> checkpoints;  // newest copy of each run's state
  std::int64_t volunteers = 0;
  db::Activity activity;
  std::size_t bans = 0;
  db::DatabaseHealth health;
  std::optional<operations::Maintenance> maintenance;
  std::optional<LastBackup> backup;
  std::optional<BackupSchedule> schedule;
  std::optional<BackupState> backup_failure;
  std::string leader;  // HOST:PORT; empty: nobody has led yet
  WallTime certificate_ends;
  WallTime now;
};

Result<Overview> look(const Project& project, const db::Database& database) {
  const db::Stores& stores = database.stores();
  Overview overview;
  overview.now = SystemClock().wall_now();
  overview.live = ask(project);
  STARLING_ASSIGN(overview.runs, operations::runs_in_use(stores.training.runs));
  for (const db::Run& run : overview.runs) {
    STARLING_ASSIGN(const db::Credited credited, stores.credit.standings.credited(run.run_id));
    overview.totals.push_back(credited.totals);
    STARLING_ASSIGN(auto checkpoint, stores.training.checkpoints.newest(run.run_id));
    overview.checkpoints.push_back(std::move(checkpoint));
  }
  STARLING_ASSIGN(const db::Credited everybody, stores.credit.standings.credited(""));
  overview.volunteers = everybody.volunteers;
  STARLING_ASSIGN(overview.activity, stores.credit.standings.activity());
  STARLING_ASSIGN(const auto bans, stores.operation.bans.list());
  overview.bans = static_cast<std::size_t>(
      std::count_if(bans.begin(), bans.end(), [&](const db::Ban& ban) { return overview.now < ban.expires; }));
  overview.health = database.health();
  STARLING_ASSIGN(overview.maintenance, operations::read_maintenance(stores.operation.settings));
  overview.backup = last_backup(project.files);
  overview.backup_failure = last_failure(project.files);
  STARLING_ASSIGN(overview.schedule, read_schedule(stores.operation.settings));
  STARLING_ASSIGN(overview.leader, Leadership::read_leader(stores.operation.settings));
  STARLING_ASSIGN(overview.certificate_ends, certificate_end(project));
  return overview;
}

void print_database(const Project& project, const db::DatabaseHealth& health) {
  const double mb = static_cast<double>(health.file_bytes) / 1e6;
  if (project.config.database.empty()) {
    fmt::print("  database     {:.1f} MB, log {:.1f} MB\n", mb, static_cast<double>(health.wal_bytes) / 1e6);
  } else {
    fmt::print("  database     {:.1f} MB at {}\n", mb, database_place(project));
  }
}

void print(const Project& project, const Overview& overview) {
  const Live& live = overview.live;
  fmt::print("project '{}'\n", project.config.name);
  if (overview.maintenance) {
    fmt::print("  maintenance  since {}; volunteers are told: {}\n", local_time(overview.maintenance->since),
               operations::notice_of(*overview.maintenance));
  }
  if (live.served) {
    fmt::print("  server       up for {:.1f} h, {} connections\n", live.uptime_s / 3600, live.connections);
    fmt::print("  swarm        {} computers, {} training, {:.1f} samples a second\n", live.computers, live.training,
               live.samples_per_s);
    if (live.less_relied_on > 0) {
      fmt::print(
          "  reputation   {} computers add up less for others than they could, {} of them sit out; who and why:\n"
          "               the server's log\n",
          live.less_relied_on, live.sitting_out);
    }
    if (!live.plan.empty()) fmt::print("  plan         {}\n", live.plan);
  } else {
    fmt::print("  server       not serving; start it with: starling-coordinator serve {}\n",
               shell_word(project.files.directory.string()));
  }
  for (std::size_t i = 0; i < overview.runs.size(); ++i) {
    const db::Run& run = overview.runs[i];
    fmt::print("  run          '{}' is {}, round {}: {} samples, {:.3f} credit\n", run.run_id,
               wire::to_string(api::state_of(run)), run.round, overview.totals[i].samples,
               credit_of(overview.totals[i]));
    if (const auto& checkpoint = overview.checkpoints[i]) {
      fmt::print("  copy         of its state at round {}, {:.1f} MB, {:.1f} h old\n", checkpoint->round,
                 static_cast<double>(checkpoint->bytes) / 1e6,
                 static_cast<double>(overview.now.unix_ms - checkpoint->at.unix_ms) / kMsPerHour);
    }
  }
  fmt::print("  volunteers   {}, {} of them in the last 24 hours\n", overview.volunteers,
             overview.activity.volunteers_day);
  fmt::print("  bans         {}\n", overview.bans);
  print_database(project, overview.health);
  if (!overview.leader.empty()) fmt::print("  leader       {}\n", overview.leader);
  if (overview.backup) {
    fmt::print("  backup       {:.1f} h ago, in '{}'\n",
               static_cast<double>(overview.now.unix_ms - overview.backup->at.unix_ms) / kMsPerHour,
               overview.backup->folder);
  } else if (!project.config.database.empty()) {
    fmt::print("  backup       none from here; of the database, perhaps, on its server\n");
  } else {
    fmt::print("  backup       none yet; make one with: starling-coordinator backup now {}\n",
               shell_word(project.files.directory.string()));
  }
  if (overview.schedule) fmt::print("               {}\n", words_of(*overview.schedule));
  if (overview.backup_failure) {
    fmt::print("               FAILED at {}: {}\n", local_time(overview.backup_failure->failed_at),
               overview.backup_failure->failure);
  }
  fmt::print("  certificate  ends in {:.0f} days\n",
             static_cast<double>(overview.certificate_ends.unix_ms - overview.now.unix_ms) / (24 * kMsPerHour));
}

std::string encode(const Project& project, const Overview& overview) {
  wire::JsonWriter writer;
  writer.open("", '{');
  writer.text("project", project.config.name);
  writer.boolean("served", overview.live.served);
  writer.boolean("maintenance", overview.maintenance.has_value());
  writer.number("uptime_s", overview.live.uptime_s);
  writer.integer("connections", overview.live.connections);
  writer.integer("computers", overview.live.computers);
  writer.integer("training", overview.live.training);
  writer.integer("less_relied_on", overview.live.less_relied_on);
  writer.integer("sitting_out", overview.live.sitting_out);
  writer.number("samples_per_s", overview.live.samples_per_s);
  writer.text("plan", overview.live.plan);
  writer.open("runs", '[');
  for (std::size_t i = 0; i < overview.runs.size(); ++i) {
    writer.open("", '{');
    writer.text("run_id", overview.runs[i].run_id);
    writer.text("state", wire::to_string(api::state_of(overview.runs[i])));
    writer.integer("round", overview.runs[i].round);
    writer.integer("samples", overview.totals[i].samples);
    writer.number("credit", credit_of(overview.totals[i]));
    writer.close('}');
  }
  writer.close(']');
  writer.integer("volunteers", overview.volunteers);
  writer.integer("volunteers_24h", overview.activity.volunteers_day);
  writer.integer("bans", static_cast<std::int64_t>(overview.bans));
  writer.integer("database_bytes", overview.health.file_bytes);
  if (!overview.leader.empty()) writer.text("leader", overview.leader);
  if (overview.backup) writer.integer("backup_unix_ms", overview.backup->at.unix_ms);
  if (overview.backup_failure) writer.text("backup_failure", overview.backup_failure->failure);
  writer.integer("certificate_ends_unix_ms", overview.certificate_ends.unix_ms);
  writer.close('}');
  return std::move(writer.str());
}

}  // namespace

Status show_status(const StatusOptions& options) {
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  STARLING_ASSIGN(const Overview overview, look(project, *database));
  if (options.json) {
    fmt::print("{}\n", encode(project, overview));
  } else {
    print(project, overview);
  }
  return {};
}

Status show_schema(const std::filesystem::path& directory) {
  const ProjectFiles files(directory);
  STARLING_ASSIGN(const ProjectConfig config, read_config(files));
  STARLING_ASSIGN(db::Connection connection, config.database.empty()
                                                 ? db::open_file(files.database(), {})
                                                 : db::open_server(config.database, db::ServerRole::reader));
  STARLING_ASSIGN(const std::int64_t version, db::schema_version(connection));
  fmt::print("{}\n", version);
  return {};
}

}  // namespace starling::server
