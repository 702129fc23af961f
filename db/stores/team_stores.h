// Teams: volunteers who count together. Credit belongs, for good, to the team that its volunteer was in when it was
// earned. See stores.h for rules that hold for every call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/stores/records.h"
#include "shared/base/result.h"

namespace starling::db {

using TeamId = std::int64_t;  // 0: none

// A team as everybody may see it.
struct Team {
  TeamId id = 0;
  std::string name;     // unique; a banned team is shown under another name
  std::string founder;  // name of the founder
  WallTime created;
  std::int64_t members = 0;  // now
};

// A volunteer who has earned something for a team.
struct TeamMember {
  AccountId account_id = 0;
  std::string display_name;
  Totals earned;         // for this team
  bool is_there = true;  // false: they have left
};

// Teams and their members. An account is in at most one team.
class TeamStore {
 public:
  virtual ~TeamStore() = default;
  // The founder is in the team from then on. already_exists: the name is taken. failed_precondition: they are in a
  // team.
  virtual Result<Team> found(AccountId founder, const std::string& name, WallTime now) = 0;
  // A volunteer in another team leaves that one. not_found: no such team. permission_denied: the operator has banned
  // it.
  virtual Result<Team> join(AccountId account, const std::string& name, WallTime now) = 0;
  // A team without members that has earned nothing ends. failed_precondition: the volunteer is in no team.
  virtual Status leave(AccountId account) = 0;
  virtual Result<Team> find(TeamId id) const = 0;                       // or not_found
  virtual Result<Team> find_named(const std::string& name) const = 0;   // or not_found
  virtual Result<std::optional<Team>> of(AccountId account) const = 0;  // nothing: in no team
  // Ordered by what they have earned for the team; at most kPageRowsMax.
  virtual Result<std::vector<TeamMember>> members(TeamId id, int limit) const = 0;
};

}  // namespace starling::db
