#include "db/stores/boards.h"

#include <fmt/core.h>

#include <array>

#include "db/stores/sql_teams.h"

namespace starling::db {
namespace {

// Where the schema keeps the sums of a board, and which rows of that table.
struct Source {
  std::string_view table;
  std::string_view which;
};
constexpr std::array<Source, leaderboard::kBoards> kSources = {{
    {"tally", "?1 = ?1"},
    {"tally", "?1 = ?1"},
    {"tally_run", "run = (SELECT number FROM run WHERE run_id = ?1)"},
    {"tally_window", "?1 = ?1 AND days = 1"},
    {"tally_window", "?1 = ?1 AND days = 7"},
}};

// The expression of the index tally_by_recent.
constexpr std::string_view kRecentKey = "(CASE WHEN recent > 0 THEN log2(recent) + recent_ms / 604800000.0 END)";

// The columns of each board's sums, in the order of Board, and the joins that find them for the holder `id`.
struct SumsSql {
  std::string columns;
  std::string joins;
};
SumsSql sums_sql(Holder of, std::string_view id) {
  SumsSql sql;
  const int kind = static_cast<int>(of);
  for (std::size_t i = 0; i < leaderboard::kBoards; ++i) {
    if (static_cast<Board>(i) == Board::recent) continue;
    sql.columns += fmt::format(", sums{0}.samples, sums{0}.credit", i);
    sql.joins += fmt::format(" LEFT JOIN {1} AS sums{0} ON sums{0}.kind = {2} AND sums{0}.holder = {3} AND {4}", i,
                             kSources[i].table, kind, id, kSources[i].which);
  }
  return sql;
}

// The holders of a kind as rows of another table.
struct HolderSql {
  std::string_view table;
  std::string_view name;
  std::string_view team;  // the number and the name of its team
  std::string_view join = {};
};

std::string standing_text(Holder of, const HolderSql& holder) {
  const SumsSql sums = sums_sql(of, fmt::format("{}.id", holder.table));
  return fmt::format(
      "SELECT {0}.id, {1}, {0}.created_ms, {2}, sums{3}.last_ms, sums{3}.recent, sums{3}.recent_ms{4} FROM {0}{5}{6}"
      " WHERE {0}.id = ?2",
      holder.table, holder.name, holder.team, static_cast<int>(Board::total), sums.columns, holder.join, sums.joins);
}

// Owner's name and the computer's number among theirs. The label that its owner gave it is not for others.
constexpr std::string_view kComputerNameSql =
    "(SELECT display_name FROM account WHERE id = host.account_id) || ', computer ' || "
    "(SELECT count(*) FROM host AS other WHERE other.account_id = host.account_id AND other.id <= host.id)";

// The columns that the board is ordered by, ascending.
std::string key_columns(const BoardSql& board) {
  return board.recent_key.empty() ? "credit, samples, -holder" : fmt::format("{}, -holder", board.recent_key);
}

// The values of key_columns() for the holder that `parameter` names.
std::string key_of(const BoardSql& board, std::string_view parameter) {
  return fmt::format("(SELECT {} FROM {} AND holder = {})", key_columns(board), board.from, parameter);
}

}  // namespace

// The plus keeps SQLite from using "more than nothing" as the end of an index's range in queries that count a place:
// these have ends of their own.
BoardSql board_sql(Holder of, Board board) {
  const Source& source = kSources[static_cast<std::size_t>(board)];
  const bool recent = board == Board::recent;
  return {fmt::format("{} WHERE kind = {} AND shown = 1 AND {} AND {}", source.table, static_cast<int>(of),
                      source.which, recent ? fmt::format("{} IS NOT NULL", kRecentKey) : "+credit > 0"),
          recent ? fmt::format("{} DESC, holder", kRecentKey) : "credit DESC, samples DESC, holder",
          recent ? kRecentKey : std::string_view()};
}

std::string rank_sql(const BoardSql& board) {
  return fmt::format("SELECT count(*) FROM {} AND ({}) > {}", board.from, key_columns(board), key_of(board, "?2"));
}

Result<std::int64_t> rank_on(Connection& connection, const BoardSql& board, const RunId& run, std::int64_t holder) {
  STARLING_ASSIGN(Statement own,
                  connection.prepare(fmt::format("SELECT count(*) FROM {} AND holder = ?2", board.from)));
  STARLING_TRY(own.bind(run, holder).step().status());
  if (own.integer(0) == 0) return 0;
  STARLING_ASSIGN(Statement count, connection.prepare(rank_sql(board)));
  STARLING_TRY(count.bind(run, holder).step().status());
  return count.integer(0) + 1;
}

Result<std::int64_t> rank_behind(Connection& connection, const BoardSql& board, const RunId& run, const Ranked& ahead,
                                 std::int64_t holder) {
  STARLING_ASSIGN(Statement count, connection.prepare(fmt::format("{} AND ({}) <= {}", rank_sql(board),
                                                                  key_columns(board), key_of(board, "?3"))));
  STARLING_TRY(count.bind(run, holder, ahead.holder).step().status());
  return ahead.rank + count.integer(0);
}

const std::string& standing_sql(Holder of) {
  static const std::string team_name = fmt::format("coalesce(team.id, 0), coalesce({}, '')", kTeamNameSql);
  static const std::array<std::string, 3> texts = {
      standing_text(Holder::volunteer,
                    {"account", "display_name", team_name, " LEFT JOIN team ON team.id = account.team_id"}),
      standing_text(Holder::team, {"team", kTeamNameSql, "0, ''"}),
      standing_text(Holder::computer, {"host", kComputerNameSql, "0, ''"})};
  return texts[static_cast<std::size_t>(of)];
}

Standing read_standing(const Statement& row) {
  Standing standing;
  standing.holder_id = row.integer(0);
  standing.display_name = row.text(1);
  standing.joined = {row.integer(2)};
  standing.team_id = row.integer(3);
  standing.team_name = row.text(4);
  standing.last_contribution = {row.integer(5)};
  standing.recent = {row.real(6), {row.integer(7)}};
  int column = 8;
  for (std::size_t i = 0; i < leaderboard::kBoards; ++i) {
    if (static_cast<Board>(i) == Board::recent) continue;
    standing.sums[i] = {row.integer(column), row.integer(column + 1)};
    column += 2;
  }
  return standing;
}

namespace {

std::string_view found_sql(Holder of) {
  switch (of) {
    case Holder::volunteer:
      return "SELECT a.id AS found, a.display_name AS name FROM account AS a JOIN tally AS t ON t.kind = 0 AND "
             "t.holder = a.id WHERE a.display_name LIKE ?2 ESCAPE '\\' ORDER BY a.display_name LIMIT ?3";
    case Holder::team:
      return "SELECT team.id AS found, name FROM team JOIN tally AS t ON t.kind = 1 AND t.holder = team.id WHERE name "
             "LIKE ?2 ESCAPE '\\' AND NOT EXISTS (SELECT 1 FROM ban WHERE kind = 'team' AND subject = CAST(team.id AS "
             "TEXT) AND expires_ms > unixepoch() * 1000) ORDER BY name LIMIT ?3";
    case Holder::computer:
      return "SELECT host.id AS found, a.display_name AS name FROM account AS a JOIN host ON host.account_id = a.id "
             "JOIN tally AS t ON t.kind = 2 AND t.holder = host.id AND t.shown = 1 "
             "WHERE a.shows_computers = 1 AND a.display_name LIKE ?2 ESCAPE '\\' ORDER BY a.display_name LIMIT ?3";
  }
  return "";
}

}  // namespace

std::string matches_sql(Holder of, const BoardSql& board) {
  return fmt::format(
      "SELECT found, holder IS NOT NULL FROM ({}) AS matching LEFT JOIN (SELECT * FROM {}) AS place ON holder = found "
      "ORDER BY holder IS NULL, {}, name",
      found_sql(of), board.from, board.order);
}

std::string_view named_sql(Holder of) {
  switch (of) {
    case Holder::volunteer:
      return "SELECT a.id FROM account AS a JOIN tally AS t ON t.kind = 0 AND t.holder = a.id WHERE a.display_name = "
             "?1";
    case Holder::team:
      return "SELECT team.id FROM team JOIN tally AS t ON t.kind = 1 AND t.holder = team.id WHERE name = ?1";
    case Holder::computer:  // a computer has no name of its own
      return "SELECT id FROM host WHERE ?1 <> ?1";
  }
  return "";
}

std::string like_pattern(std::string_view text) {
  std::string pattern = "%";
  for (const char c : text) {
    if (c == '%' || c == '_' || c == '\\') pattern += '\\';
    pattern += c;
  }
  return pattern + "%";
}

}  // namespace starling::db
