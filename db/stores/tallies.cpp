#include "db/stores/tallies.h"

#include <string_view>
#include <utility>
#include <vector>

namespace starling::db {
namespace {

constexpr std::string_view kTeamLines =
    "SELECT credit, at_ms FROM contribution AS line WHERE account_id IN "
    "(SELECT account_id FROM team_volunteer WHERE team_id = ?1) AND team_id = ?1 AND reverses IS NULL "
    "AND NOT EXISTS (SELECT 1 FROM contribution AS r WHERE r.reverses = line.id) ORDER BY id";
constexpr std::string_view kComputerLines =
    "SELECT credit, at_ms FROM contribution AS line WHERE account_id = "
    "(SELECT account_id FROM host WHERE id = ?1) AND host = ?1 AND reverses IS NULL "
    "AND NOT EXISTS (SELECT 1 FROM contribution AS r WHERE r.reverses = line.id) ORDER BY id";

}  // namespace

Result<RecentAverage> replay_tally(Connection& connection, TallyKind kind, std::int64_t holder) {
  const bool team = kind == TallyKind::team;
  STARLING_ASSIGN(Statement created, connection.prepare(team ? "SELECT created_ms FROM team WHERE id = ?"
                                                             : "SELECT created_ms FROM host WHERE id = ?"));
  STARLING_TRY(created.bind(holder).step().status());
  RecentAverage average{0, {created.integer(0)}};
  STARLING_ASSIGN(Statement lines, connection.prepare(team ? kTeamLines : kComputerLines));
  lines.bind(holder);
  for (;;) {
    STARLING_ASSIGN(const bool more, lines.step());
    if (!more) return average;
    average = granted(average, lines.integer(0), {lines.integer(1)});
  }
}

Status restore_tallies_of(Connection& connection, AccountId account) {
  std::vector<std::pair<TallyKind, std::int64_t>> touched;
  STARLING_ASSIGN(Statement find, connection.prepare("SELECT 1, team_id FROM team_volunteer WHERE account_id = ?1 "
                                                     "AND team_id IN (SELECT id FROM team) "
                                                     "UNION ALL SELECT 2, id FROM host WHERE account_id = ?1"));
  find.bind(account);
  for (;;) {
    STARLING_ASSIGN(const bool more, find.step());
    if (!more) break;
    touched.emplace_back(static_cast<TallyKind>(find.integer(0)), find.integer(1));
  }
  STARLING_ASSIGN(Statement update,
                  connection.prepare("UPDATE tally SET recent = ?, recent_ms = ? WHERE kind = ? AND holder = ?"));
  for (const auto& [kind, holder] : touched) {
    STARLING_ASSIGN(const RecentAverage left, replay_tally(connection, kind, holder));
    STARLING_TRY(update.bind(left.per_day, left.at.unix_ms, static_cast<int>(kind), holder).run());
  }
  return {};
}

}  // namespace starling::db
