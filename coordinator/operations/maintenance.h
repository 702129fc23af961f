// Maintenance: what can wait, waits, and people are told why and until when. Who trains goes on: heartbeats are
// answered, rounds are credited. It is a setting in the database, so that it outlives the server.
#pragma once

#include <optional>
#include <string>

#include "coordinator/operations/desk.h"

namespace starling::operations {

struct Maintenance {
  std::string message;  // plain text for volunteers; may be empty
  WallTime since;
  std::optional<WallTime> until;  // when it is expected to be over

  static constexpr std::size_t kMessageBytesMax = 500;
};

Result<std::optional<Maintenance>> maintenance(const db::Stores& stores);
Status begin_maintenance(const Desk& desk, const Maintenance& wanted);
// failed_precondition when there is none.
Status end_maintenance(const Desk& desk);

// "The project is being looked after (new disk). Please come again at 2024-06-10 08:15 UTC."
std::string maintenance_notice(const Maintenance& maintenance);
// For Retry-After: until its end, else a quarter of an hour; never less than a minute.
Duration come_again(const Maintenance& maintenance, WallTime now);

}  // namespace starling::operations
