// Backups by a schedule.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <set>
#include <system_error>

#include "coordinator/server/backup.h"
#include "coordinator/server/key_bundle.h"
#include "shared/base/files.h"
#include "shared/base/log.h"
#include "shared/wire/json_reader.h"
#include "shared/wire/json_writer.h"

namespace starling::server {
namespace {

constexpr const char* kSetting = "backup schedule";
constexpr const char* kFailure = "last-backup-failure";  // file in the project with time and reason of the failure
constexpr const char* kPart = ".part";                   // suffix of an incomplete backup
constexpr std::size_t kSmallBytesMax = 64 * 1024;
constexpr std::int64_t kDayMs = 86'400'000;
constexpr const char* kNameFormat = "%Y-%m-%dT%H%M%SZ";

// Removes leftovers of earlier tries in the folder: one server makes backups there, and none is under way.
void remove_halves(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (std::filesystem::directory_iterator at(folder, ignored), end; !ignored && at != end; at.increment(ignored)) {
    const std::filesystem::path& half = at->path();
    if (half.extension() == kPart && backup_time(half.stem().string())) std::filesystem::remove_all(half, ignored);
  }
}

void remove_outdated(const BackupSchedule& schedule) {
  std::vector<WallTime> backups;
  std::error_code problem;
  for (std::filesystem::directory_iterator at(schedule.folder, problem), end; !problem && at != end;
       at.increment(problem)) {
    const auto made = backup_time(at->path().filename().string());
    if (made && std::filesystem::exists(ProjectFiles(at->path()).sums(), problem)) backups.push_back(*made);
  }
  for (const WallTime made : outdated(std::move(backups), schedule)) {
    std::filesystem::remove_all(std::filesystem::path(schedule.folder) / backup_name(made), problem);
    if (problem) log_warning("backup of {} can not be removed: {}", backup_name(made), problem.message());
  }
}

Status make_scheduled(const Project& project, db::Database& database, const BackupSchedule& schedule, WallTime now) {
  const std::filesystem::path folder = schedule.folder;
  STARLING_TRY(ensure_directory(folder, 0700));
  remove_halves(folder);
  const std::filesystem::path half = folder / (backup_name(now) + kPart);
  const std::filesystem::path whole = folder / backup_name(now);
  STARLING_TRY(make_backup(project, database, half));
  std::error_code problem;
  std::filesystem::rename(half, whole, problem);
  if (problem) return Error{ErrorCode::io, fmt::format("rename '{}': {}", half.string(), problem.message())};
  STARLING_TRY(sync_to_disk(folder));
  STARLING_TRY(note_backup(project.files, {now, whole.string()}));
  remove_outdated(schedule);
  return {};
}

}  // namespace

Result<std::optional<BackupSchedule>> read_schedule(const db::SettingStore& settings) {
  STARLING_ASSIGN(const auto text, settings.find(kSetting));
  if (!text) return std::optional<BackupSchedule>();
  STARLING_ASSIGN(const auto document, wire::JsonDocument::parse(*text, kSmallBytesMax));
  wire::JsonReader reader = document.root();
  BackupSchedule schedule;
  std::int64_t every_ms = 0;
  reader.integer("every_ms", every_ms, 1, INT64_MAX / 1'000'000);
  reader.text("folder", schedule.folder, 4096, wire::TextForm::exact);
  wire::read_int(reader, "daily", schedule.daily, 0, BackupSchedule::kKeptMax);
  wire::read_int(reader, "weekly", schedule.weekly, 0, BackupSchedule::kKeptMax);
  STARLING_TRY(reader.status());
  schedule.every = from_ms(every_ms);
  return std::optional(schedule);
}

Status set_schedule(const operations::Desk& desk, const std::optional<BackupSchedule>& schedule) {
  if (!schedule) {
    STARLING_TRY(desk.stores.operation.settings.remove(kSetting));
    return operations::note(desk, "backup schedule", "off");
  }
  wire::JsonWriter writer;
  writer.open("", '{');
  writer.integer("every_ms", to_ms(schedule->every));
  writer.text("folder", schedule->folder);
  writer.integer("daily", schedule->daily);
  writer.integer("weekly", schedule->weekly);
  writer.close('}');
  STARLING_TRY(desk.stores.operation.settings.set(kSetting, writer.str()));
  return operations::note(desk, "backup schedule", schedule->folder);
}

std::string words_of(const BackupSchedule& schedule) {
  return fmt::format("every {:g} h into '{}', kept: the newest of {} days and of {} weeks",
                     to_seconds(schedule.every) / 3600, schedule.folder, schedule.daily, schedule.weekly);
}

std::string backup_name(WallTime at) {
  const std::time_t seconds = at.unix_ms / 1000;
  std::tm parts = {};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, kNameFormat, &parts)};
}

std::optional<WallTime> backup_time(const std::string& name) {
  std::tm parts = {};
  const char* end = ::strptime(name.c_str(), kNameFormat, &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  const WallTime time{std::int64_t{::timegm(&parts)} * 1000};
  return backup_name(time) == name ? std::optional(time) : std::nullopt;
}

std::vector<WallTime> outdated(std::vector<WallTime> backups, const BackupSchedule& schedule) {
  std::sort(backups.rbegin(), backups.rend());
  std::set<std::int64_t> days;
  std::set<std::int64_t> weeks;
  std::vector<WallTime> out;
  for (std::size_t i = 0; i < backups.size(); ++i) {
    const std::int64_t day = backups[i].unix_ms / kDayMs;
    const std::int64_t week = (day + 3) / 7;  // 1970 began on a Thursday; weeks begin on Mondays
    const bool of_day = days.size() < static_cast<std::size_t>(schedule.daily) && days.insert(day).second;
    const bool of_week = weeks.size() < static_cast<std::size_t>(schedule.weekly) && weeks.insert(week).second;
    if (i > 0 && !of_day && !of_week) out.push_back(backups[i]);
  }
  return out;
}

std::optional<BackupState> last_failure(const ProjectFiles& files) {
  const auto text = read_file(files.at(kFailure), kSmallBytesMax);
  if (!text) return std::nullopt;
  BackupState state;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), state.failed_at.unix_ms);
  if (error != std::errc() || end == text->data() + text->size()) return std::nullopt;
  state.failure = std::string(end + 1, text->data() + text->size());
  return state;
}

void forget_failure(const ProjectFiles& files) {
  std::error_code ignored;
  std::filesystem::remove(files.at(kFailure), ignored);
}

BackupKeeper::~BackupKeeper() {
  if (thread_.joinable()) thread_.join();
}

Status BackupKeeper::look() {
  if (under_way_) return {};
  STARLING_ASSIGN(const auto schedule, read_schedule(database_.stores().operation.settings));
  if (!schedule) return {};
  const WallTime now = clock_.wall_now();
  const auto last = last_backup(project_.files);
  if (last && now.unix_ms - last->at.unix_ms < to_ms(schedule->every) && last->at <= now) return {};
  if (const BackupState failed = state();
      !failed.failure.empty() && now.unix_ms - failed.failed_at.unix_ms < to_ms(kRetry)) {
    return {};
  }
  if (thread_.joinable()) thread_.join();
  under_way_ = true;
  thread_ = std::thread([this, wanted = *schedule] { make(wanted); });
  return {};
}

BackupState BackupKeeper::state() const {
  MutexLock lock(mutex_);
  return state_;
}

void BackupKeeper::make(const BackupSchedule& schedule) {
  const WallTime now = clock_.wall_now();
  const Status made = make_scheduled(project_, database_, schedule, now);
  if (made.ok()) {
    log_info("backup: everything is in '{}/{}'", schedule.folder, backup_name(now));
    if (const std::string warning = export_warning(project_); !warning.empty()) log_warning("backup: {}", warning);
  } else {
    log_error("backup: {}; it is tried again in {:.0f} min", made.error().message, to_seconds(kRetry) / 60);
    // For `status`. A full disk may not take this note either: then the age of the last backup has to tell.
    (void)write_file_atomically(project_.files.at(kFailure), fmt::format("{} {}", now.unix_ms, made.error().message))
        .ok();
  }
  {
    MutexLock lock(mutex_);
    state_.failure = made.ok() ? "" : made.error().message;
    if (!made.ok()) state_.failed_at = now;
    if (!made.ok()) ++state_.failures;
  }
  under_way_ = false;
}

}  // namespace starling::server
