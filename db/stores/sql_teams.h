// Teams in SQL. Inside db/stores only.
#pragma once

#include "db/stores/sql_stores.h"

namespace starling::db {

class SqlTeamStore final : public TeamStore {
 public:
  explicit SqlTeamStore(Access access) : access_(access) {}
  Result<Team> found(AccountId founder, const std::string& name, WallTime now) override;
  Result<Team> join(AccountId account, const std::string& name, WallTime now) override;
  Status leave(AccountId account) override;
  Result<Team> find(TeamId id) const override;
  Result<Team> find_named(const std::string& name) const override;
  Result<std::optional<Team>> of(AccountId account) const override;
  Result<std::vector<TeamMember>> members(TeamId id, int limit) const override;

 private:
  Access access_;
};

// A team's name as everybody sees it: an SQL expression over `team`.
constexpr std::string_view kTeamNameSql =
    "CASE WHEN EXISTS (SELECT 1 FROM ban WHERE kind = 'team' AND subject = CAST(team.id AS TEXT) AND expires_ms > "
    "unixepoch() * 1000) THEN '(team ' || team.id || ', kept out)' ELSE team.name END";

}  // namespace starling::db
