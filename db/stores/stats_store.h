// Everything that a project publishes for statistics sites: who has earned how much for good, without e-mail, address,
// or name of a computer. Totals are of final credit; recent averages are those of the boards, where credit counts at
// once. See stores.h for rules that hold for every call.
#pragma once

#include <functional>
#include <string>

#include "db/stores/recent_average.h"
#include "db/stores/records.h"
#include "db/stores/team_stores.h"
#include "shared/base/result.h"

namespace starling::db {

// An account with credit, in public figures. Times are UTC.
struct StatsUser {
  AccountId id = 0;
  std::string name;
  WallTime created;
  TeamId team = 0;
  Totals total;
  RecentAverage recent;
};

// A team with credit; members of earlier times count in its sums.
struct StatsTeam {
  TeamId id = 0;
  std::string name;  // name that everybody sees
  AccountId founder = 0;
  std::string founder_name;
  WallTime created;
  std::int64_t members = 0;  // now
  Totals total;
  RecentAverage recent;
};

// A computer with credit, under a number that does not reveal its key.
struct StatsHost {
  std::int64_t id = 0;
  AccountId owner = 0;  // 0: they do not show their computers
  WallTime created;
  Totals total;
  RecentAverage recent;
};

// An account that its owner has deleted, or a computer of one.
struct StatsDeleted {
  std::int64_t id = 0;
  WallTime at;
};

// Called for each row, in the order of ids; the first failure ends the visit.
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
  // Visits everybody with final credit, all at one moment, and accounts deleted at `deleted_since` or later. Nothing
  // else about deleted accounts is published.
  virtual Status visit(const StatsVisitor& visitor, WallTime deleted_since) const = 0;
};

}  // namespace starling::db
