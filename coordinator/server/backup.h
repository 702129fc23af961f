// Backups of a project: made now by a command, and by a schedule while it is served.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "coordinator/server/project.h"
#include "shared/base/mutex.h"

namespace starling::server {

// The newest complete backup that this project knows of, and its place.
struct LastBackup {
  WallTime at;
  std::string folder;
};
// Nothing when this project knows of none.
std::optional<LastBackup> last_backup(const ProjectFiles& files);

// Records `made` as the last backup, and clears an earlier failure.
Status note_backup(const ProjectFiles& files, const LastBackup& made);

// Copies everything but the private keys, with its digests, into a folder that does not exist yet. A failure leaves
// nothing behind. resource_exhausted, before anything is copied, when there is too little space. With `sealed_keys`
// (key_bundle.h), the copy has the keys in this form.
Status make_backup(const Project& project, db::Database& database, const std::filesystem::path& to,
                   const std::optional<std::string>& sealed_keys = {});

// The settings of `backup schedule`. The newest backup is kept, and the newest one of each of the last `daily` days and
// `weekly` weeks that have one.
struct BackupSchedule {
  Duration every{};
  std::string folder;  // absolute
  int daily = 7;
  int weekly = 4;

  static constexpr int kKeptMax = 1000;
  static constexpr Duration kEveryMin = std::chrono::minutes(10);
};
Result<std::optional<BackupSchedule>> read_schedule(const db::SettingStore& settings);
Status set_schedule(const operations::Desk& desk, const std::optional<BackupSchedule>& schedule);
// "every 12 h into '/srv/backups', kept: the newest of 7 days and of 4 weeks"
std::string words_of(const BackupSchedule& schedule);

// "2024-06-10T061320Z", and back; nothing for other names.
std::string backup_name(WallTime at);
std::optional<WallTime> backup_time(const std::string& name);
// The backups that are not kept.
std::vector<WallTime> outdated(std::vector<WallTime> backups, const BackupSchedule& schedule);

// How the schedule is going; `failure` is empty after a success.
struct BackupState {
  std::int64_t failures = 0;  // since the start
  WallTime failed_at = {};
  std::string failure;
};
// The server's note of the last failure, for other processes; nothing once a backup was made.
std::optional<BackupState> last_failure(const ProjectFiles& files);
void forget_failure(const ProjectFiles& files);

// Makes backups when they are due, on a thread of its own. look() and the destructor belong to one thread.
class BackupKeeper {
 public:
  // All must outlive it.
  BackupKeeper(const Project& project, db::Database& database, const Clock& clock)
      : project_(project), database_(database), clock_(clock) {}
  ~BackupKeeper();
  BackupKeeper(const BackupKeeper&) = delete;
  BackupKeeper& operator=(const BackupKeeper&) = delete;

  // Begins a backup if it is time and none is under way. Call it often.
  Status look();
  [[nodiscard]] BackupState state() const EXCLUDES(mutex_);

  // Time until the next try after a failure.
  static constexpr Duration kRetry = std::chrono::minutes(15);

 private:
  void make(const BackupSchedule& schedule) EXCLUDES(mutex_);

  const Project& project_;
  db::Database& database_;
  const Clock& clock_;
  mutable Mutex mutex_;
  BackupState state_ GUARDED_BY(mutex_);
  std::atomic<bool> under_way_ = false;
  std::thread thread_;
};

}  // namespace starling::server
