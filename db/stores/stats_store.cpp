#include "db/stores/stats_store.h"

#include <fmt/core.h>

#include "db/sql/transaction.h"
#include "db/stores/sql_stats.h"
#include "db/stores/sql_teams.h"

namespace starling::db {
namespace {

// The cross join keeps SQLite from reading the tallies first and sorting accounts afterwards.
constexpr std::string_view kUsers =
    "SELECT a.id, a.display_name, a.created_ms, coalesce(a.team_id, 0), t.samples, t.credit, t.recent, t.recent_ms"
    " FROM account AS a CROSS JOIN tally AS t"
    " WHERE t.kind = 0 AND t.holder = a.id AND t.credit > 0 AND a.state <> 'deleted' ORDER BY a.id";

// The credit of deleted accounts' hosts stays in the totals, but the hosts are not listed.
constexpr std::string_view kHosts =
    "SELECT h.id, CASE WHEN a.shows_computers = 1 THEN a.id ELSE 0 END, h.created_ms, t.samples, t.credit, t.recent, "
    "t.recent_ms"
    " FROM host AS h JOIN account AS a ON a.id = h.account_id JOIN tally AS t ON t.kind = 2 AND t.holder = h.id"
    " WHERE t.credit > 0 AND a.state <> 'deleted' ORDER BY h.id";

constexpr std::string_view kUsersDeleted =
    "SELECT id, deleted_ms FROM account WHERE state = 'deleted' AND deleted_ms >= ? ORDER BY id";
constexpr std::string_view kHostsDeleted =
    "SELECT h.id, a.deleted_ms FROM host AS h JOIN account AS a ON a.id = h.account_id"
    " WHERE a.state = 'deleted' AND a.deleted_ms >= ? ORDER BY h.id";

std::string teams_sql() {
  return fmt::format(
      "SELECT team.id, {}, a.id, a.display_name, team.created_ms,"
      " (SELECT count(*) FROM account WHERE team_id = team.id), t.samples, t.credit, t.recent, t.recent_ms"
      " FROM team JOIN account AS a ON a.id = team.founder_id JOIN tally AS t ON t.kind = 1 AND t.holder = team.id"
      " WHERE t.credit > 0 ORDER BY team.id",
      team_name_sql("?1"));
}

// Reads earned credit, from that column on.
void read_earned(const Statement& row, int column, Totals& total, RecentAverage& recent) {
  total = {row.integer(column), row.integer(column + 1)};
  recent = {row.real(column + 2), {row.integer(column + 3)}};
}

StatsUser read_user(const Statement& row) {
  StatsUser user{row.integer(0), row.text(1), {row.integer(2)}, row.integer(3), {}, {}};
  read_earned(row, 4, user.total, user.recent);
  return user;
}

StatsTeam read_team(const Statement& row) {
  StatsTeam team{row.integer(0), row.text(1), row.integer(2), row.text(3), {row.integer(4)}, row.integer(5), {}, {}};
  read_earned(row, 6, team.total, team.recent);
  return team;
}

StatsHost read_host(const Statement& row) {
  StatsHost host{row.integer(0), row.integer(1), {row.integer(2)}, {}, {}};
  read_earned(row, 3, host.total, host.recent);
  return host;
}

StatsDeleted read_deleted(const Statement& row) { return {row.integer(0), {row.integer(1)}}; }

template <typename Row, typename... Values>
Status each(Connection& connection, std::string_view sql, Row (*read)(const Statement&),
            const std::function<Status(const Row&)>& visit, const Values&... values) {
  STARLING_ASSIGN(Statement rows, connection.prepare(sql));
  rows.bind(values...);
  for (;;) {
    STARLING_ASSIGN(const bool more, rows.step());
    if (!more) return {};
    STARLING_TRY(visit(read(rows)));
  }
}

}  // namespace

Status SqlStatsStore::visit(const StatsVisitor& visitor, WallTime deleted_since) const {
  STARLING_ASSIGN(ReaderPool::Lease reader, access_.readers.acquire());
  STARLING_ASSIGN(const Transaction moment, Transaction::begin(*reader, TransactionKind::read));
  STARLING_TRY(each(*reader, kUsers, read_user, visitor.user));
  STARLING_TRY(each(*reader, teams_sql(), read_team, visitor.team, access_.now_ms()));
  STARLING_TRY(each(*reader, kHosts, read_host, visitor.host));
  STARLING_TRY(each(*reader, kUsersDeleted, read_deleted, visitor.user_deleted, deleted_since.unix_ms));
  return each(*reader, kHostsDeleted, read_deleted, visitor.host_deleted, deleted_since.unix_ms);
}

}  // namespace starling::db
