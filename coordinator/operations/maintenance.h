// Maintenance: everything that can wait does, and people see the reason and the expected end. Training goes on:
// heartbeats are answered, rounds are credited. The state is a setting in the database, so it outlives the server.
#pragma once

#include <optional>
#include <string>

#include "coordinator/operations/desk.h"
#include "shared/base/mutex.h"

namespace starling::operations {

struct Maintenance {
  std::string message;  // plain text for volunteers; may be empty
  WallTime since = {};
  std::optional<WallTime> until = {};  // the expected end

  static constexpr std::size_t kMessageBytesMax = 500;
};

// Empty: no maintenance.
Result<std::optional<Maintenance>> read_maintenance(const db::SettingStore& settings);
// Begins maintenance, or changes the texts of one under way.
Status begin_maintenance(const Desk& desk, const Maintenance& wanted);
// Error failed_precondition if there is none.
Status end_maintenance(const Desk& desk);

// "The project is being looked after: new disk. Please come again after 2024-06-10 08:15 UTC."
std::string notice_of(const Maintenance& maintenance);
// The time for Retry-After: until the expected end, or else a quarter of an hour; at least a minute, at most a day.
Duration come_again(const Maintenance& maintenance, WallTime now);

// The running server's view of it, for requests on any thread.
class MaintenanceSign {
 public:
  // Reads the database. Called now and then, so that a command run beside the server takes effect.
  Status refresh(const db::SettingStore& settings) EXCLUDES(mutex_);
  [[nodiscard]] std::optional<Maintenance> shown() const EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  std::optional<Maintenance> shown_ GUARDED_BY(mutex_);
};

}  // namespace starling::operations
