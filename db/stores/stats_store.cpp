#include "db/stores/stats_store.h"

#include <fmt/core.h>

#include "db/sql/transaction.h"
#include "db/stores/sql_stats.h"
#include "db/stores/sql_teams.h"

namespace starling::db {
namespace {

// Credit or samples of the holder of the tally `t` that are not final.
constexpr std::string_view kPending =
    "(SELECT coalesce(sum({0}), 0) FROM pending WHERE pending.kind = t.kind AND pending.holder = t.holder)";

// The columns of read_earned(), and their condition.
std::string final_credit() {
  return fmt::format("t.samples - {}, t.credit - {}, t.recent, t.recent_ms", fmt::format(kPending, "samples"),
                     fmt::format(kPending, "credit"));
}
std::string has_final_credit() { return fmt::format("t.credit > {}", fmt::format(kPending, "credit")); }

// The cross join keeps SQLite from reading the tallies first and sorting accounts afterwards.
std::string users_sql() {
  return fmt::format(
      "SELECT a.id, a.display_name, a.created_ms, coalesce(a.team_id, 0), {} FROM account AS a CROSS JOIN tally AS t"
      " WHERE t.kind = 0 AND t.holder = a.id AND {} AND a.state <> 'deleted' ORDER BY a.id",
      final_credit(), has_final_credit());
}

// The credit of deleted accounts' hosts stays in the totals, but the hosts are not listed.
std::string hosts_sql() {
  return fmt::format(
      "SELECT h.id, CASE WHEN a.shows_computers = 1 THEN a.id ELSE 0 END, h.created_ms, {}"
      " FROM host AS h JOIN account AS a ON a.id = h.account_id JOIN tally AS t ON t.kind = 2 AND t.holder = h.id"
      " WHERE {} AND a.state <> 'deleted' ORDER BY h.id",
      final_credit(), has_final_credit());
}

constexpr std::string_view kUsersDeleted =
    "SELECT id, deleted_ms FROM account WHERE state = 'deleted' AND deleted_ms >= ? ORDER BY id";
constexpr std::string_view kHostsDeleted =
    "SELECT h.id, a.deleted_ms FROM host AS h JOIN account AS a ON a.id = h.account_id"
    " WHERE a.state = 'deleted' AND a.deleted_ms >= ? ORDER BY h.id";

std::string teams_sql() {
  return fmt::format(
      "SELECT team.id, {}, a.id, a.display_name, team.created_ms,"
      " (SELECT count(*) FROM account WHERE team_id = team.id), {}"
      " FROM team JOIN account AS a ON a.id = team.founder_id JOIN tally AS t ON t.kind = 1 AND t.holder = team.id"
      " WHERE {} ORDER BY team.id",
      team_name_sql("?1"), final_credit(), has_final_credit());
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
  STARLING_TRY(each(*reader, users_sql(), read_user, visitor.user));
  STARLING_TRY(each(*reader, teams_sql(), read_team, visitor.team, access_.now_ms()));
  STARLING_TRY(each(*reader, hosts_sql(), read_host, visitor.host));
  STARLING_TRY(each(*reader, kUsersDeleted, read_deleted, visitor.user_deleted, deleted_since.unix_ms));
  return each(*reader, kHostsDeleted, read_deleted, visitor.host_deleted, deleted_since.unix_ms);
}

}  // namespace starling::db
