// Everything that statistics sites are told of a project: who has earned how much. See stores.h for what holds for
// every call. No e-mail, address, or name of a computer.
#pragma once

#include <functional>
#include <string>

#include "db/stores/recent_average.h"
#include "db/stores/records.h"
#include "db/stores/team_stores.h"
#include "shared/base/result.h"

namespace starling::db {

struct StatsUser {
  AccountId id = 0;
  std::string name;
  WallTime created;
  TeamId team = 0;
  Totals total;
  RecentAverage recent;
};

struct StatsTeam {
  TeamId id = 0;
  std::string name;  // as everybody reads it
  AccountId founder = 0;
  std::string founder_name;
  WallTime created;
  std::int64_t members = 0;  // now
  Totals total;
  RecentAverage recent;
};

struct StatsHost {
  std::int64_t id = 0;
  AccountId owner = 0;  // 0: they do not show their computers
  WallTime created;
  Totals total;
  RecentAverage recent;
};

// An account that its owner has ended, with the computers it had.
struct StatsDeleted {
  std::int64_t id = 0;
  WallTime at;
};

// Called for each, by number; the first failure ends it.
struct StatsVisitor {
  std::function<Status(const StatsUser&)> user;
  std::function<Status(const StatsTeam&)> team;
  std::function<Status(const StatsHost&)> host;
  std::function<Status(const StatsDeleted&)> user_deleted;
  std::function<Status(const StatsDeleted&)> host_deleted;
};

class StatsStore {
 public:
  virtual ~StatsStore() = default;
  // Those with credit, all at one moment, and what was deleted at `deleted_since` or later. Of deleted accounts nothing
  // else is told.
  virtual Status visit(const StatsVisitor& visitor, WallTime deleted_since) const = 0;
};

}  // namespace starling::db
