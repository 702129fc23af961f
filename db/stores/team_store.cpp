#include <fmt/core.h>

#include <algorithm>

#include "db/stores/account_rows.h"
#include "db/stores/name_rows.h"
#include "db/stores/sql_teams.h"

namespace starling::db {

std::string team_kept_out_sql(std::string_view now) {
  return fmt::format(
      "EXISTS (SELECT 1 FROM ban WHERE kind = 'team' AND subject = CAST(team.id AS TEXT) AND expires_ms > {})", now);
}

std::string team_name_sql(std::string_view now) {
  return fmt::format("CASE WHEN {} THEN '(team ' || team.id || ', kept out)' ELSE team.name END",
                     team_kept_out_sql(now));
}

namespace {

// ?1 is the time.
const std::string& team_columns() {
  static const std::string sql = fmt::format(
      "SELECT team.id, {}, founder.display_name, team.created_ms,"
      " (SELECT count(*) FROM account WHERE team_id = team.id)"
      " FROM team JOIN account AS founder ON founder.id = team.founder_id ",
      team_name_sql("?1"));
  return sql;
}

Result<Team> read_team(const Statement& row) {
  return Team{row.integer(0), row.text(1), row.text(2), {row.integer(3)}, row.integer(4)};
}

Result<TeamMember> read_member(const Statement& row) {
  return TeamMember{row.integer(0), row.text(1), {row.integer(2), row.integer(3)}, row.integer(4) != 0};
}

std::string no_team(const std::string& name) { return fmt::format("there is no team '{}'", name); }

// The team of an account that may be in one; 0: none.
Result<TeamId> team_of(Connection& connection, AccountId account) {
  STARLING_ASSIGN(Statement find, connection.prepare("SELECT team_id FROM account WHERE id = ? AND state = 'active'"));
  STARLING_ASSIGN(const bool there, find.bind(account).step());
  if (there) return find.integer(0);
  return Error{ErrorCode::failed_precondition, "only volunteers with a name, and the project's approval, have teams"};
}

Status put(Connection& connection, AccountId account, TeamId team) {
  STARLING_ASSIGN(Statement update,
                  connection.prepare("UPDATE account SET team_id = nullif(CAST(? AS BIGINT), 0) WHERE id = ?"));
  return update.bind(team, account).run();
}

// Ends the team if nobody is in it and it has earned nothing.
Status end_if_empty(Connection& connection, TeamId team) {
  STARLING_ASSIGN(
      Statement end,
      connection.prepare("DELETE FROM team WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM account WHERE "
                         "team_id = ?1) AND NOT EXISTS (SELECT 1 FROM tally WHERE kind = 1 AND holder = ?1)"));
  return end.bind(team).run();
}

Result<TeamId> insert_team(Connection& connection, AccountId founder, const std::string& name, WallTime now) {
  STARLING_ASSIGN(const std::string taken, name_like(connection, kTeamNames, name));
  if (!taken.empty()) {
    return Error{ErrorCode::already_exists,
                 fmt::format("there is a team '{}' already; join it, or choose another name", taken)};
  }
  const NameKeys keys = keys_of_name(name);
  STARLING_ASSIGN(Statement insert,
                  connection.prepare("INSERT INTO team (name, name_fold, name_look, name_capitals, founder_id, "
                                     "created_ms) VALUES (?, ?, ?, ?, ?, ?) RETURNING id"));
  STARLING_TRY(insert.bind(name, keys.fold, keys.look, keys.capitals, founder, now.unix_ms).step().status());
  return insert.integer(0);
}

Status found_in(Connection& connection, AccountId founder, const std::string& name, WallTime now) {
  STARLING_ASSIGN(const TeamId old, team_of(connection, founder));
  if (old != 0) {
    return Error{ErrorCode::failed_precondition, "you are in a team; leave it before you found another one"};
  }
  STARLING_ASSIGN(const TeamId team, insert_team(connection, founder, name, now));
  return put(connection, founder, team);
}

Status join_in(Connection& connection, AccountId account, const std::string& name, WallTime now) {
  static const std::string sql = fmt::format(
      "SELECT team.id, ban.reason FROM team LEFT JOIN ban ON ban.kind = 'team' AND "
      "ban.subject = CAST(team.id AS TEXT) AND ban.expires_ms > ?2 WHERE team.id = {}",
      key_of_name(kTeamNames, "?1", "?3"));
  STARLING_ASSIGN(Statement find, connection.prepare(sql));
  STARLING_ASSIGN(const bool there, find.bind(name, now.unix_ms, keys_of_name(name).fold).step());
  if (!there) return Error{ErrorCode::not_found, no_team(name)};
  if (!find.text(1).empty()) {
    return Error{ErrorCode::permission_denied,
                 fmt::format("the team '{}' is kept out of this project by its operator: {}", name, find.text(1))};
  }
  const TeamId team = find.integer(0);
  STARLING_ASSIGN(const TeamId old, team_of(connection, account));
  if (old == team) return {};
  STARLING_TRY(put(connection, account, team));
  return end_if_empty(connection, old);
}

}  // namespace

Status leave_team(Connection& connection, AccountId account) {
  STARLING_ASSIGN(Statement find, connection.prepare("SELECT team_id FROM account WHERE id = ?"));
  STARLING_ASSIGN(const bool there, find.bind(account).step());
  const TeamId team = there ? find.integer(0) : 0;
  if (team == 0) return Error{ErrorCode::failed_precondition, "you are in no team"};
  STARLING_TRY(put(connection, account, 0));
  return end_if_empty(connection, team);
}

Result<Team> SqlTeamStore::found(AccountId founder, const std::string& name, WallTime now) {
  STARLING_TRY(access_.writes.run([&](Connection& connection) { return found_in(connection, founder, name, now); }));
  return find_named(name);
}

Result<Team> SqlTeamStore::join(AccountId account, const std::string& name, WallTime now) {
  STARLING_TRY(access_.writes.run([&](Connection& connection) { return join_in(connection, account, name, now); }));
  return find_named(name);
}

Status SqlTeamStore::leave(AccountId account) {
  return access_.writes.run([=](Connection& connection) { return leave_team(connection, account); });
}

Result<Team> SqlTeamStore::find(TeamId id) const {
  static const std::string sql = team_columns() + "WHERE team.id = ?2";
  return only(select(access_, sql, read_team, access_.now_ms(), id), fmt::format("there is no team {}", id));
}

Result<Team> SqlTeamStore::find_named(const std::string& name) const {
  static const std::string sql =
      fmt::format("{}WHERE team.id = {}", team_columns(), key_of_name(kTeamNames, "?2", "?3"));
  return only(select(access_, sql, read_team, access_.now_ms(), name, keys_of_name(name).fold), no_team(name));
}

Result<std::optional<Team>> SqlTeamStore::of(AccountId account) const {
  static const std::string sql = team_columns() + "WHERE team.id = (SELECT team_id FROM account WHERE id = ?2)";
  STARLING_ASSIGN(const auto teams, select(access_, sql, read_team, access_.now_ms(), account));
  return teams.empty() ? std::nullopt : std::optional<Team>(teams.front());
}

Result<std::vector<TeamMember>> SqlTeamStore::members(TeamId id, int limit) const {
  return select(
      access_,
      "SELECT account.id, account.display_name, earned.samples, earned.credit, account.team_id IS NOT DISTINCT FROM ?1 "
      "FROM team_volunteer AS earned JOIN account ON account.id = earned.account_id "
      "WHERE earned.team_id = ?1 ORDER BY earned.credit DESC, earned.account_id LIMIT ?2",
      read_member, id, std::clamp(limit, 0, kPageRowsMax));
}

}  // namespace starling::db
