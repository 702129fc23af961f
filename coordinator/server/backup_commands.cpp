// Copies of a whole project, and proof that they can be used.
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <map>
#include <system_error>

#include "coordinator/api/run_recovery.h"
#include "coordinator/api/run_report.h"
#include "coordinator/operations/rollback.h"
#include "coordinator/operations/runs.h"
#include "coordinator/server/arguments.h"
#include "coordinator/server/backup.h"
#include "coordinator/server/commands.h"
#include "coordinator/server/key_bundle.h"
#include "shared/base/clock.h"
#include "shared/base/files.h"
#include "shared/base/os_error.h"
#include "shared/base/shell_words.h"
#include "shared/crypto/digest.h"

namespace starling::server {
namespace {

constexpr std::size_t kSumsBytesMax = 16 * 1024 * 1024;
constexpr const char* kStamp = "last-backup";  // file in the project with time and place of the last backup

// Makes a folder of this call's own, so that it may be removed again. already_exists when somebody else made it.
Status make_new_folder(const std::filesystem::path& wanted) {
  const std::filesystem::path folder = wanted.has_filename() ? wanted : wanted.parent_path();
  if (folder.has_parent_path()) STARLING_TRY(ensure_directory(folder.parent_path(), 0700));
  if (::mkdir(folder.c_str(), 0700) == 0) return {};
  if (errno == EEXIST) return Error{ErrorCode::already_exists, fmt::format("'{}' exists already", folder.string())};
  return os_error("create folder", folder, errno);
}

// Removes a partial copy: it is useless, and the space that it takes may be what was missing.
Status keep_if_whole(const Status& made, const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!made.ok()) std::filesystem::remove_all(folder, ignored);
  return made;
}

Status copy_to(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code problem;
  std::filesystem::copy_file(from, to, problem);
  if (problem) return os_error(fmt::format("copy '{}' to", from.string()), to, problem.value());
  return sync_to_disk(to);
}

// Source and destination of a copy. Artefacts never change and are named by their digest: those that the last backup
// has are linked and not copied again, where both are on one disk.
struct Way {
  const ProjectFiles& from;
  const ProjectFiles& to;
  std::filesystem::path earlier;  // artefacts of the last backup; empty: there are none to link to
};

std::filesystem::path earlier_artefacts(const ProjectFiles& project, const std::filesystem::path& to) {
  const auto last = last_backup(project);
  if (!last) return {};
  std::filesystem::path artefacts = ProjectFiles(last->folder).artefacts();
  struct stat there = {};
  struct stat here = {};
  if (::stat(artefacts.c_str(), &there) != 0 || ::stat(to.c_str(), &here) != 0) return {};
  return there.st_dev == here.st_dev ? artefacts : std::filesystem::path();
}

bool is_earlier(const Way& way, const db::ArtefactRecord& artefact) {
  if (way.earlier.empty()) return false;
  std::error_code absent;
  const auto bytes = std::filesystem::file_size(way.earlier / artefact.digest.hex(), absent);
  return !absent && bytes == static_cast<std::uintmax_t>(artefact.bytes);
}

Status take(const Way& way, const db::ArtefactRecord& artefact) {
  const std::string name = artefact.digest.hex();
  const std::filesystem::path to = way.to.artefacts() / name;
  if (is_earlier(way, artefact) && ::link((way.earlier / name).c_str(), to.c_str()) == 0) return {};
  return copy_to(way.from.artefacts() / name, to);
}

// Takes the artefacts that are not there yet. Copies of runs' states come and go meanwhile.
Status take_artefacts(const db::ArtefactStore& store, const Way& way) {
  STARLING_ASSIGN(const auto artefacts, store.list());
  for (const db::ArtefactRecord& artefact : artefacts) {
    const std::filesystem::path to = way.to.artefacts() / artefact.digest.hex();
    std::error_code absent;
    if (std::filesystem::exists(to, absent)) continue;
    Status taken = take(way, artefact);
    if (taken.ok()) continue;
    const auto still = store.find(artefact.digest);
    if (still.ok() || still.error().code != ErrorCode::not_found) return taken;
    std::filesystem::remove(to, absent);
  }
  return sync_to_disk(way.to.artefacts());
}

// Expects room for the copies and, where both are on one disk, some for the project itself to go on with.
Status expect_room(const db::Database& database, const Way& way) {
  constexpr std::uint64_t kSpare = 64 << 20;
  const db::DatabaseHealth health = database.health();
  std::uint64_t wanted = kSpare + static_cast<std::uint64_t>(health.file_bytes + health.wal_bytes);
  STARLING_ASSIGN(const auto artefacts, database.stores().training.artefacts.list());
  for (const db::ArtefactRecord& artefact : artefacts) {
    if (!is_earlier(way, artefact)) wanted += static_cast<std::uint64_t>(artefact.bytes);
  }
  std::error_code unknown;
  const std::uint64_t free = std::filesystem::space(way.to.directory, unknown).available;
  if (unknown || free >= wanted) return {};
  return Error{ErrorCode::resource_exhausted,
               fmt::format("'{}' has {} MB free, and a backup needs {} MB; make room, or choose another disk",
                           way.to.directory.string(), free >> 20, wanted >> 20)};
}

Status copy_project(const Project& project, db::Database& database, const ProjectFiles& copy,
                    const std::optional<std::string>& sealed_keys) {
  const Way way{project.files, copy, earlier_artefacts(project.files, copy.directory)};
  STARLING_TRY(expect_room(database, way));
  STARLING_TRY(ensure_directory(copy.artefacts(), 0700));
  const db::ArtefactStore& artefacts = database.stores().training.artefacts;
  // Slow copies go first, so that the files which the copied database names are still there afterwards.
  STARLING_TRY(take_artefacts(artefacts, way));
  STARLING_TRY(database.backup(copy.database()));
  STARLING_TRY(take_artefacts(artefacts, way));
  STARLING_TRY(copy_to(project.files.at("ca.pem"), copy.at("ca.pem")));
  if (sealed_keys) STARLING_TRY(write_file_atomically(copy.at(kSealedKeys), *sealed_keys, {.mode = 0600}));
  ProjectConfig config = project.config;
  config.database.clear();  // the copy's database is a file, wherever the project's is
  return write_config(copy, config);
}

// Digests of all files below `folder` except the list itself, by path within it.
Result<std::map<std::string, Digest>> digests_of(const std::filesystem::path& folder) {
  std::map<std::string, Digest> digests;
  std::error_code problem;
  for (std::filesystem::recursive_directory_iterator at(folder, problem), end; !problem && at != end;
       at.increment(problem)) {
    if (!at->is_regular_file() || at->path() == ProjectFiles(folder).sums()) continue;
    STARLING_ASSIGN(const Digest digest, crypto::sha256_file(at->path()));
    digests.emplace(at->path().lexically_relative(folder).string(), digest);
  }
  if (!problem) return digests;
  return Error{ErrorCode::io, fmt::format("read '{}': {}", folder.string(), problem.message())};
}

Result<std::map<std::string, Digest>> read_sums(const std::filesystem::path& folder) {
  const auto text = read_file(ProjectFiles(folder).sums(), kSumsBytesMax);
  if (!text) return text.error().prefixed(fmt::format("'{}' is no complete backup", folder.string()));
  std::map<std::string, Digest> sums;
  constexpr std::size_t kHex = 64;
  for (std::size_t at = 0; at < text->size();) {
    const std::size_t end = std::min(text->find('\n', at), text->size());
    const std::string line = text->substr(at, end - at);
    at = end + 1;
    const auto digest = line.size() > kHex + 2 ? Digest::from_hex(line.substr(0, kHex)) : Digest::from_hex("");
    if (!digest)
      return Error{ErrorCode::corrupt,
                   fmt::format("'{}' is damaged: '{}'", ProjectFiles(folder).sums().string(), line)};
    sums.emplace(line.substr(kHex + 2), *digest);
  }
  return sums;
}

// An artefact whose digest is not its name was damaged in the backup that it was linked to, or in the project.
Status heal_artefacts(const ProjectFiles& project, const ProjectFiles& copy, std::map<std::string, Digest>& digests) {
  for (auto& [path, digest] : digests) {
    const std::filesystem::path file = copy.directory / path;
    const std::string name = file.filename().string();
    if (file.parent_path() != copy.artefacts() || name == digest.hex()) continue;
    std::error_code ignored;
    std::filesystem::remove(file, ignored);
    STARLING_TRY(copy_to(project.artefacts() / name, file));
    STARLING_ASSIGN(digest, crypto::sha256_file(file));
    if (name == digest.hex()) continue;
    return Error{ErrorCode::corrupt,
                 fmt::format("'{}' is damaged: its bytes are not those that its name says; put it back from an earlier "
                             "backup",
                             (project.artefacts() / name).string())};
  }
  return {};
}

Status fill_backup(const Project& project, db::Database& database, const ProjectFiles& copy,
                   const std::optional<std::string>& sealed_keys) {
  STARLING_TRY(copy_project(project, database, copy, sealed_keys));
  STARLING_ASSIGN(auto digests, digests_of(copy.directory));
  STARLING_TRY(heal_artefacts(project.files, copy, digests));
  std::string sums;  // in the format that sha256sum writes and `sha256sum -c` reads
  for (const auto& [name, digest] : digests) sums += fmt::format("{}  {}\n", digest.hex(), name);
  return write_file_atomically(copy.sums(), sums);  // last: a backup that has this file is complete
}

// Names the first file that differs from the backed-up one.
Status compare(const std::map<std::string, Digest>& sums, const std::map<std::string, Digest>& found) {
  for (const auto& [name, digest] : sums) {
    const auto file = found.find(name);
    if (file == found.end()) return Error{ErrorCode::corrupt, fmt::format("'{}' is missing from the backup", name)};
    if (file->second != digest) {
      return Error{ErrorCode::corrupt,
                   fmt::format("'{}' is damaged: its bytes are not those that were backed up", name)};
    }
  }
  return {};
}

// Opens a copy of the database, so that the backup itself stays unchanged, and adds up its ledger.
Status try_database(const ProjectFiles& backup) {
  std::string name = (std::filesystem::temp_directory_path() / "starling-restore-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) return os_error("create folder", name, errno);
  const std::filesystem::path folder = name;
  auto tried = [&]() -> Status {
    STARLING_TRY(copy_to(backup.database(), folder / "coordinator.db"));
    STARLING_ASSIGN(const auto database, db::Database::open(folder / "coordinator.db", {.ballast_bytes = 0}));
    STARLING_TRY(database->check());
    STARLING_ASSIGN(const auto runs, database->stores().training.runs.list());
    for (const db::Run& run : runs) {
      STARLING_ASSIGN(const db::Totals sum, database->stores().training.contributions.ledger_sum(run.run_id));
      fmt::print("  run '{}': {} samples, {:.6f} credit in the ledger\n", run.run_id, sum.samples, credit_of(sum));
    }
    return {};
  }();
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return tried;
}

Status verify_backup(const std::filesystem::path& folder) {
  STARLING_ASSIGN(const auto sums, read_sums(folder));
  STARLING_ASSIGN(const auto found, digests_of(folder));
  STARLING_TRY(compare(sums, found));
  const ProjectFiles files(folder);
  // Versions before this one put the keys in as they were.
  const bool has_keys = missing_keys(files).empty();
  STARLING_TRY(has_keys ? read_project(folder).status() : read_config(files).status());
  STARLING_TRY(try_database(files));
  std::error_code unknown;
  const bool sealed = std::filesystem::exists(files.at(kSealedKeys), unknown);
  fmt::print("the backup '{}' is whole: {} files, {}\n", folder.string(), sums.size(),
             has_keys ? "with private keys that anybody can read"
             : sealed ? "with private keys that a passphrase opens"
                      : "without private keys");
  return {};
}

// The keys for the restored project: those of `--keys`, else those in the backup; nothing where there are none.
Result<std::optional<KeyFiles>> keys_to_restore(const RestoreOptions& options) {
  std::error_code unknown;
  std::filesystem::path file = options.keys;
  if (file.empty()) file = ProjectFiles(options.backup).at(kSealedKeys);
  if (options.without_keys || (options.keys.empty() && !std::filesystem::exists(file, unknown))) {
    return std::optional<KeyFiles>();
  }
  auto sealed = read_sealed_keys(file);
  if (!sealed) return sealed.error().prefixed(options.keys.empty() ? kSealedKeys : "--keys");
  auto passphrase = known_passphrase(options.passphrase_file);
  if (!passphrase) return passphrase.error().prefixed("or say --without-keys");
  auto keys = open_keys(*sealed, *passphrase);
  if (!keys) return keys.error().prefixed(fmt::format("'{}'", file.string()));
  return std::optional(std::move(*keys));
}

void tell_missing(const ProjectFiles& restored) {
  const std::vector<std::string> missing = missing_keys(restored);
  if (missing.empty()) return;
  std::string names;
  for (const std::string& name : missing) names += (names.empty() ? "" : " and ") + name;
  fmt::print(
      "missing: {0}. Nobody can serve '{1}' before they are there: put them there, or restore again, with --keys and "
      "the "
      "file of `keys export`\n",
      names, restored.directory.string());
}

// Volunteers may have taken part in rounds since the backup, and go back on the project's signed word only.
Status state_runs(const ProjectFiles& restored) {
  STARLING_ASSIGN(const Project project, load_project(restored.directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  const SystemClock clock;
  const operations::Desk desk = desk_of(*database, clock);
  STARLING_ASSIGN(const auto runs, operations::runs_in_use(desk.stores.training.runs));
  for (const db::Run& run : runs) {
    STARLING_ASSIGN(const core::RecoveredRun recovered, api::recover_run(desk.stores, run));
    const core::KnownState at = recovered.current();
    if (at.state_digest.is_zero() || run.state == db::RunState::complete) continue;
    STARLING_TRY(
        operations::state_again(desk, run, at.round, at.state_digest, {project.manifest_key, project.key_certificate}));
    fmt::print("  run '{}' goes on in round {}\n", run.run_id, at.round);
  }
  return {};
}

Status copy_backup(const ProjectFiles& backup, const std::optional<KeyFiles>& keys, const ProjectFiles& to) {
  STARLING_ASSIGN(const auto sums, read_sums(backup.directory));
  STARLING_TRY(ensure_directory(to.artefacts(), 0700));
  for (const auto& [name, digest] : sums) {
    if (name == to.config().filename() || name == kSealedKeys) continue;
    STARLING_TRY(copy_to(backup.directory / name, to.directory / name));
  }
  if (keys) STARLING_TRY(write_keys(*keys, to));
  STARLING_TRY(sync_to_disk(to.artefacts()));
  STARLING_TRY(sync_to_disk(to.directory));
  STARLING_TRY(copy_to(backup.config(), to.config()));                              // last: now the project is complete
  if (missing_keys(to).empty()) STARLING_TRY(read_project(to.directory).status());  // the keys are this project's
  return sync_to_disk(to.directory);
}

}  // namespace

std::optional<LastBackup> last_backup(const ProjectFiles& files) {
  const auto text = read_file(files.at(kStamp), kSumsBytesMax);
  if (!text) return std::nullopt;
  LastBackup last;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), last.at.unix_ms);
  if (error != std::errc() || *end != ' ') return std::nullopt;
  last.folder = std::string(end + 1, text->data() + text->size());
  while (!last.folder.empty() && last.folder.back() == '\n') last.folder.pop_back();
  return last;
}

Status note_backup(const ProjectFiles& files, const LastBackup& made) {
  forget_failure(files);
  return write_file_atomically(
      files.at(kStamp), fmt::format("{} {}\n", made.at.unix_ms, std::filesystem::absolute(made.folder).string()));
}

Status make_backup(const Project& project, db::Database& database, const std::filesystem::path& to,
                   const std::optional<std::string>& sealed_keys) {
  STARLING_TRY(make_new_folder(to));
  return keep_if_whole(fill_backup(project, database, ProjectFiles(to), sealed_keys), to);
}

Status back_up(const BackupOptions& options) {
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  std::optional<std::string> sealed_keys;
  if (options.with_keys) {
    STARLING_ASSIGN(const std::string passphrase, new_passphrase(options.passphrase_file));
    STARLING_ASSIGN(sealed_keys, seal_keys(project.files, passphrase));
  }
  STARLING_ASSIGN(const auto database, open_database(project));
  const WallTime now = SystemClock().wall_now();
  std::filesystem::path to = options.to;
  if (to.empty()) {
    STARLING_TRY(ensure_directory(project.files.backups(), 0700));
    to = project.files.backups() / backup_name(now);
  }
  STARLING_TRY(make_backup(project, *database, to, sealed_keys));
  STARLING_TRY(note_backup(project.files, {now, to.string()}));
  if (options.with_keys) STARLING_TRY(note_export(project));
  fmt::print("everything{} is in '{}'; keep a copy on another machine\n",
             options.with_keys ? "" : " but the private keys", to.string());
  if (const std::string warning = export_warning(project); !warning.empty()) fmt::print("warning: {}\n", warning);
  return {};
}

Status schedule_backups(const ScheduleOptions& options) {
  STARLING_ASSIGN(const Project project, load_project(options.directory));
  STARLING_ASSIGN(const auto database, open_database(project));
  const SystemClock clock;
  if (options.off) {
    STARLING_TRY(set_schedule(desk_of(*database, clock), std::nullopt));
    forget_failure(project.files);
    fmt::print("backups are made by hand from now on\n");
    return {};
  }
  if (!options.every.empty()) {
    BackupSchedule wanted{.folder = {}, .daily = options.daily, .weekly = options.weekly};
    STARLING_ASSIGN(wanted.every, parse_duration(options.every));
    if (wanted.every < BackupSchedule::kEveryMin) {
      return Error{ErrorCode::invalid_argument, fmt::format("--every {} is too often; at least 10m", options.every)};
    }
    const std::filesystem::path folder = options.to.empty() ? project.files.backups() : options.to;
    wanted.folder = std::filesystem::absolute(folder).string();
    STARLING_TRY(ensure_directory(wanted.folder, 0700));
    STARLING_TRY(set_schedule(desk_of(*database, clock), wanted));
  }
  STARLING_ASSIGN(const auto schedule, read_schedule(database->stores().operation.settings));
  fmt::print("{}\n", schedule ? words_of(*schedule) : "there is no schedule; make one with --every 12h");
  return {};
}

Status restore(const RestoreOptions& options) {
  STARLING_TRY(verify_backup(options.backup));
  if (options.verify_only && options.passphrase_file.empty()) return {};
  if (!options.verify_only && options.to.empty()) {
    return Error{ErrorCode::invalid_argument, "say where to restore it to, or add --verify to only look at it"};
  }
  STARLING_ASSIGN(const auto keys, keys_to_restore(options));
  if (options.verify_only) {
    if (!keys) return Error{ErrorCode::not_found, "there are no keys that a passphrase could open"};
    fmt::print("the passphrase opens the keys\n");
    return {};
  }
  const ProjectFiles to(options.to);
  STARLING_TRY(make_new_folder(options.to));
  STARLING_TRY(keep_if_whole(copy_backup(ProjectFiles(options.backup), keys, to), options.to));
  fmt::print("restored into '{}'; serve it with: starling-coordinator serve {}\n", options.to.string(),
             shell_word(options.to.string()));
  tell_missing(to);
  return missing_keys(to).empty() ? state_runs(to) : Status();
}

}  // namespace starling::server
