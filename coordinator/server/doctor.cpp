// The command that checks a project. Each finding is a line; a bad one says what to do.
#include <fmt/core.h>
#include <netdb.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timex.h>

#include <algorithm>

#include "coordinator/server/backup.h"
#include "coordinator/server/commands.h"
#include "coordinator/server/key_bundle.h"
#include "coordinator/server/name_clashes.h"
#include "coordinator/server/run_beginning.h"
#include "coordinator/server/server_link.h"
#include "coordinator/server/trainers_seen.h"
#include "shared/base/clock.h"
#include "shared/base/files.h"
#include "shared/base/shell_words.h"
#include "shared/crypto/digest.h"
#include "shared/manifest/signed_manifest.h"
#include "shared/run/epochs.h"

namespace starling::server {
namespace {

constexpr std::int64_t kDayMs = 86'400'000;
constexpr std::int64_t kCertificateLeftMs = 14 * kDayMs;  // the server renews it a month before
constexpr std::int64_t kBackupAgeMs = 36 * 3'600'000;
constexpr int kSamplesNamed = 5;
constexpr std::uint64_t kDiskFreeMin = std::uint64_t{256} << 20;
constexpr rlim_t kOpenFilesMin = 12'000;           // gate::GateLimits::connections_max, and some more for files
constexpr WallTime kNotBefore{1'700'000'000'000};  // this program is younger, so no clock before it is right

// Prints one finding a line and counts the bad ones.
class Findings {
 public:
  void add(std::string_view what, const Status& status) {
    if (status.ok()) {
      fmt::print("  ok       {}\n", what);
    } else {
      ++problems_;
      fmt::print("  PROBLEM  {}: {}\n", what, status.error().message);
    }
  }
  // Adds a finding that may be intended, or that cannot be judged from here.
  void add_note(std::string_view what, const Status& status) {
    fmt::print("  {}  {}{}\n", status.ok() ? "ok     " : "note   ", what,
               status.ok() ? "" : ": " + status.error().message);
  }
  [[nodiscard]] int problems() const { return problems_; }

 private:
  int problems_ = 0;
};

Status check_secret(const std::filesystem::path& file) {
  struct stat info = {};
  if (::stat(file.c_str(), &info) != 0) return Error{ErrorCode::not_found, "the file is missing"};
  if ((info.st_mode & 077) != 0) {
    return Error{ErrorCode::permission_denied, "others may read it; run: chmod 600 " + shell_word(file.string())};
  }
  return {};
}

Status check_artefact(const Project& project, const db::ArtefactRecord& artefact) {
  STARLING_ASSIGN(const Digest digest, crypto::sha256_file(project.files.artefacts() / artefact.digest.hex()));
  if (digest == artefact.digest) return {};
  return Error{ErrorCode::corrupt, "its bytes are not those that were imported; volunteers would refuse them"};
}

Result<wire::RunManifest> check_run(const Project& project, const db::Run& run) {
  STARLING_ASSIGN(const auto envelope, manifest::decode_envelope(run.manifest_envelope));
  STARLING_ASSIGN(wire::RunManifest manifest, manifest::verify_manifest(envelope, project.root));
  if (!begins_unsigned(run, manifest)) return manifest;
  return Error{ErrorCode::failed_precondition,
               fmt::format("its manifest does not name the state that it begins with, so nobody can train it; run: "
                           "starling-coordinator run sign {} {}",
                           shell_word(project.files.directory.string()), shell_word(run.run_id))};
}

// "item 5 of shard 0 in epoch 2"; items are counted from 0.
std::string name_of(const SampleSetAside& sample, const wire::RunManifest& manifest) {
  const wire::SampleRange range{0, 0, sample.place, 1, sample.epoch};
  const std::size_t shard = wire::shard_of(manifest, range);
  const auto starts = wire::sample_starts(manifest, range, wire::sample_space(manifest, shard));
  const std::string item = starts ? fmt::format("{}", starts->front()) : fmt::format("at {}", sample.place);
  return fmt::format("item {} of shard {} in epoch {}", item, shard, sample.epoch + 1);
}

// Names items of the data that no computer could train on.
Status check_samples(const db::LeaseStore& leases, const wire::RunManifest& manifest) {
  STARLING_ASSIGN(const std::int64_t count, leases.count_set_aside(manifest.run_id));
  if (count == 0) return {};
  STARLING_ASSIGN(const auto samples, leases.all_set_aside(manifest.run_id, {.limit = kSamplesNamed}));
  std::string names;
  for (const SampleSetAside& sample : samples) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(sample, manifest));
  }
  return Error{ErrorCode::failed_precondition,
               fmt::format("{} could not be trained on: their gradients are not finite. The newest: {}", count, names)};
}

Status check_name(const std::string& host) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (failed == 0) ::freeaddrinfo(found);
  if (failed == 0) return {};
  return Error{ErrorCode::unavailable, fmt::format("{}; volunteers dial this name: make a DNS entry, or choose another "
                                                   "--public address",
                                                   ::gai_strerror(failed))};
}

Status check_clock(WallTime now) {
  if (now < kNotBefore) return Error{ErrorCode::failed_precondition, "the clock is years late; set it"};
  return {};
}

Status check_clock_is_kept() {
  timex state = {};
  if (::adjtimex(&state) != TIME_ERROR) return {};
  return Error{ErrorCode::failed_precondition,
               "the kernel does not know of a time service; certificates need a right clock: run one, such as chrony"};
}

Status check_disk(const Project& project) {
  struct statvfs disk = {};
  if (::statvfs(project.files.directory.c_str(), &disk) != 0) {
    return Error{ErrorCode::io, fmt::format("'{}' can not be looked at", project.files.directory.string())};
  }
  const std::uint64_t free = std::uint64_t{disk.f_bavail} * disk.f_frsize;
  std::error_code missing;
  const auto size = std::filesystem::file_size(project.files.database(), missing);
  const std::uint64_t wanted = std::max<std::uint64_t>(kDiskFreeMin, missing ? 0 : 2 * size);
  if (free >= wanted) return {};
  return Error{ErrorCode::resource_exhausted,
               fmt::format("{} MB are free, and {} MB should be", free >> 20, wanted >> 20)};
}

Status check_open_files() {
  rlimit limit = {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max >= kOpenFilesMin) return {};
  return Error{
      ErrorCode::resource_exhausted,
      fmt::format("{} open files are allowed, and each connection is one: raise LimitNOFILE or ulimit -n to {}",
                  limit.rlim_max, kOpenFilesMin)};
}

Status check_certificate(const Project& project, WallTime now) {
  STARLING_ASSIGN(const WallTime ends, certificate_end(project));
  if (ends.unix_ms - now.unix_ms > kCertificateLeftMs) return {};
  return Error{ErrorCode::failed_precondition,
               fmt::format("it ends in {} days; restart the coordinator, which renews it",
                           (ends.unix_ms - now.unix_ms) / kDayMs)};
}

Status check_backup(const Project& project, WallTime now) {
  const auto last = last_backup(project.files);
  // Nobody can see from here which copies a database's server makes by itself.
  if (!last && !project.config.database.empty()) {
    return Error{
        ErrorCode::not_found,
        fmt::format("none was made from here; the database is at {}: see to copies there, and of this folder's "
                    "keys and artefacts, or use: starling-coordinator backup now {}",
                    database_place(project), shell_word(project.files.directory.string()))};
  }
  if (!last) {
    return Error{ErrorCode::not_found, fmt::format("there is none; make one with: starling-coordinator backup now {}",
                                                   shell_word(project.files.directory.string()))};
  }
  if (now.unix_ms - last->at.unix_ms <= kBackupAgeMs) return {};
  return Error{ErrorCode::failed_precondition,
               fmt::format("the last one is {} days old", (now.unix_ms - last->at.unix_ms) / kDayMs)};
}

Status check_export(const Project& project) {
  const std::string warning = export_warning(project);
  return warning.empty() ? Status() : Status(Error{ErrorCode::failed_precondition, warning});
}

void look_at_machine(const Project& project, WallTime now, Findings& findings) {
  const std::string& host = project.config.public_at.host;
  findings.add(fmt::format("name '{}'", host), check_name(host));
  findings.add("clock", check_clock(now));
  findings.add_note("clock is kept right", check_clock_is_kept());
  findings.add("disk space", check_disk(project));
  findings.add_note("open files", check_open_files());
  findings.add_note("backup", check_backup(project, now));
  findings.add_note("keys were exported", check_export(project));
  const bool served = ServerLink::is_served(project);
  findings.add(served ? "the server answers" : "port is free",
               served ? ServerLink(project).get("/healthz").status() : ServerLink::check_port(project));
}

// Problems of volunteers' computers with a run that is served.
void look_at_trainers(const Project& project, const RunId& run_id, Findings& findings) {
  const core::FailingMembers failing = ask_server(project, run_id).failing;
  if (failing.of == 0) return;
  const std::string text = core::failing_text(failing);
  const Status status = text.empty() ? Status() : Status(Error{ErrorCode::failed_precondition, text});
  const std::string what = fmt::format("trainers of run {}", run_id);
  failing.all() ? findings.add(what, status) : findings.add_note(what, status);
}

void look_at_database(const Project& project, Findings& findings) {
  const auto database = open_database(project);
  findings.add(fmt::format("database opens: {}", database_place(project)), database.status());
  if (!database) return;
  findings.add("database and ledger agree", (*database)->check());
  findings.add_note("names differ", check_names(project));
  const db::Stores& stores = (*database)->stores();
  if (const auto runs = stores.training.runs.list()) {
    for (const db::Run& run : *runs) {
      const auto manifest = check_run(project, run);
      findings.add(fmt::format("run {}", run.run_id), manifest.status());
      if (!manifest) continue;
      findings.add_note(fmt::format("samples of run {}", run.run_id), check_samples(stores.training.leases, *manifest));
      if (run.state == db::RunState::running) look_at_trainers(project, run.run_id, findings);
    }
  }
  if (const auto artefacts = stores.training.artefacts.list()) {
    for (const db::ArtefactRecord& artefact : *artefacts) {
      findings.add(fmt::format("artefact {} ({})", artefact.digest.brief(), artefact.name),
                   check_artefact(project, artefact));
    }
  }
}

}  // namespace

Status examine(const std::filesystem::path& directory) {
  STARLING_ASSIGN(const Project project, load_project(directory));
  const WallTime now = SystemClock().wall_now();
  Findings findings;
  fmt::print("project '{}' in '{}'\n", project.config.name, directory.string());
  for (const char* secret : {"ca.key", "manifest.key", "server.key", "web.key"}) {
    findings.add(secret, check_secret(project.files.at(secret)));
  }
  if (!project.config.database.empty()) findings.add("project.json", check_secret(project.files.config()));
  findings.add("certificates", server_identity(project, now).status());
  findings.add("certificate lasts", check_certificate(project, now));
  look_at_machine(project, now, findings);
  look_at_database(project, findings);
  if (findings.problems() == 0) return {};
  return Error{ErrorCode::failed_precondition, fmt::format("{} problem(s) found", findings.problems())};
}

}  // namespace starling::server
