// Maintenance: what can wait, waits, and people are told why and until when. Who trains goes on: heartbeats are
// answered, rounds are credited. It is a setting in the database, so that it outlives the server.
#pragma once

#include <optional>
#include <string>

#include "coordinator/operations/desk.h"
#include "shared/base/mutex.h"

namespace starling::operations {

struct Maintenance {
  std::string message;  // plain text for volunteers; may be empty
  WallTime since = {};
  std::optional<WallTime> until = {};  // when it is expected to be over

  static constexpr std::size_t kMessageBytesMax = 500;
};

// Nothing: the project serves as ever.
Result<std::optional<Maintenance>> read_maintenance(const db::Stores& stores);
// Also changes what is told of one under way.
Status begin_maintenance(const Desk& desk, const Maintenance& wanted);
// failed_precondition when there is none.
Status end_maintenance(const Desk& desk);

// "The project is being looked after: new disk. Please come again after 2024-06-10 08:15 UTC."
std::string notice_of(const Maintenance& maintenance);
// For Retry-After: until its end, else a quarter of an hour; between a minute and a day.
Duration come_again(const Maintenance& maintenance, WallTime now);

// What the running server knows of it, for requests on any thread.
class MaintenanceSign {
 public:
  // The database is looked at now and then, so that a command beside the server is heard.
  Status refresh(const db::Stores& stores) EXCLUDES(mutex_);
  [[nodiscard]] std::optional<Maintenance> shown() const EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  std::optional<Maintenance> shown_ GUARDED_BY(mutex_);
};

}  // namespace starling::operations
