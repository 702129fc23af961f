// Volunteers who count together. Credit belongs to the team that its volunteer was in when it was earned, for good. See
// stores.h for what holds for every call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/stores/records.h"
#include "shared/base/result.h"

namespace starling::db {

using TeamId = std::int64_t;  // 0: none

struct Team {
  TeamId id = 0;
  std::string name;     // unique; what is kept out by the operator has another one for everybody
  std::string founder;  // their name
  WallTime created;
  std::int64_t members = 0;  // now
};

// Somebody who has earned something for a team.
struct TeamMember {
  AccountId account_id = 0;
  std::string display_name;
  Totals earned;         // for this team
  bool is_there = true;  // false: they have left
};

class TeamStore {
 public:
  virtual ~TeamStore() = default;
  // The founder is in it from then on. already_exists: the name. failed_precondition: they are in a team.
  virtual Result<Team> found(AccountId founder, const std::string& name, WallTime now) = 0;
  // Whoever is in another team leaves it. not_found: no such team. permission_denied: the operator keeps it out.
  virtual Result<Team> join(AccountId account, const std::string& name, WallTime now) = 0;
  // A team without members that has earned nothing ends. failed_precondition: they are in none.
  virtual Status leave(AccountId account) = 0;
  virtual Result<Team> find(TeamId id) const = 0;                       // or not_found
  virtual Result<Team> find_named(const std::string& name) const = 0;   // or not_found
  virtual Result<std::optional<Team>> of(AccountId account) const = 0;  // nothing: in none
  // By what they have earned for it; at most kPageRowsMax.
  virtual Result<std::vector<TeamMember>> members(TeamId id, int limit) const = 0;
};

}  // namespace starling::db
