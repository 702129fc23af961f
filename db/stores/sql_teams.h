// Teams in SQL. Inside db/stores only.
#pragma once

#include <string>
#include <string_view>

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

// Whether the team is kept out at a moment: an SQL expression over `team`. `now` is the parameter with that moment.
std::string team_kept_out_sql(std::string_view now);
// A team's name as everybody sees it then.
std::string team_name_sql(std::string_view now);

}  // namespace starling::db
