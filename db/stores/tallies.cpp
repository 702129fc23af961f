#include "db/stores/tallies.h"

#include <fmt/core.h>

#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace starling::db {
namespace {

// When the holder ?1 came into being, and the ledger lines that are its own. Each set of lines is found by an index.
struct Lines {
  std::string_view created;
  std::string_view own;
};
constexpr std::array<Lines, 3> kLines = {{
    {"SELECT created_ms FROM account WHERE id = ?1", "account_id = ?1"},
    {"SELECT created_ms FROM team WHERE id = ?1",
     "account_id IN (SELECT account_id FROM team_volunteer WHERE team_id = ?1) AND team_id = ?1"},
    {"SELECT created_ms FROM host WHERE id = ?1",
     "account_id = (SELECT account_id FROM host WHERE id = ?1) AND host = ?1"},
}};

}  // namespace

Result<RecentAverage> replay_tally(Connection& connection, Holder of, std::int64_t holder) {
  const Lines& lines = kLines[static_cast<std::size_t>(of)];
  STARLING_ASSIGN(Statement created, connection.prepare(lines.created));
  STARLING_TRY(created.bind(holder).step().status());
  RecentAverage average{0, {created.integer(0)}};
  STARLING_ASSIGN(Statement grants, connection.prepare(fmt::format(
                                        "SELECT credit, at_ms FROM contribution AS line WHERE {} AND reverses IS NULL "
                                        "AND NOT EXISTS (SELECT 1 FROM contribution AS r WHERE r.reverses = line.id) "
                                        "ORDER BY id",
                                        lines.own)));
  grants.bind(holder);
  for (;;) {
    STARLING_ASSIGN(const bool more, grants.step());
    if (!more) return average;
    average = granted(average, grants.integer(0), {grants.integer(1)});
  }
}

Result<Totals> pending_of(Connection& connection, Holder of, std::int64_t holder) {
  STARLING_ASSIGN(Statement sum, connection.prepare("SELECT sum(samples), sum(credit) FROM pending WHERE kind = ? AND "
                                                    "holder = ?"));
  STARLING_TRY(sum.bind(static_cast<int>(of), holder).step().status());
  return Totals{sum.integer(0), sum.integer(1)};
}

Status restore_tallies_of(Connection& connection, AccountId account) {
  std::vector<std::pair<Holder, std::int64_t>> touched;
  STARLING_ASSIGN(Statement find, connection.prepare("SELECT 0, id FROM account WHERE id = ?1 "
                                                     "UNION ALL SELECT 1, team_id FROM team_volunteer "
                                                     "WHERE account_id = ?1 AND team_id IN (SELECT id FROM team) "
                                                     "UNION ALL SELECT 2, id FROM host WHERE account_id = ?1"));
  find.bind(account);
  for (;;) {
    STARLING_ASSIGN(const bool more, find.step());
    if (!more) break;
    touched.emplace_back(static_cast<Holder>(find.integer(0)), find.integer(1));
  }
  STARLING_ASSIGN(Statement update,
                  connection.prepare("UPDATE tally SET recent = ?, recent_ms = ? WHERE kind = ? AND holder = ?"));
  for (const auto& [of, holder] : touched) {
    STARLING_ASSIGN(const RecentAverage left, replay_tally(connection, of, holder));
    STARLING_TRY(update.bind(left.per_day, left.at.unix_ms, static_cast<int>(of), holder).run());
  }
  return {};
}

}  // namespace starling::db
