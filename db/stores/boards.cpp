#include "db/stores/boards.h"

#include <fmt/core.h>

#include <array>

#include "db/stores/name_rows.h"
#include "db/stores/sql_teams.h"

namespace starling::db {
namespace {

// Where the schema keeps the sums of a board: a table, and the value of its further key, if it has one.
struct Source {
  std::string_view table;
  std::string_view key = {};
  std::string_view value = {};
};
constexpr std::array<Source, leaderboard::kBoards> kSources = {{
    {"tally"},
    {"tally"},
    {"tally_run", "run", "(SELECT number FROM run WHERE run_id = ?1)"},
    {"tally_window", "days", "1"},
    {"tally_window", "days", "7"},
}};

// The condition for a holder's row of that kind under the name `table`. It mentions ?1 in any case, since a statement
// has a value for it.
std::string is_of(Holder of, const Source& source, std::string_view table) {
  return fmt::format("{0}.kind = {1} AND ", table, static_cast<int>(of)) +
         (source.key.empty() ? "?1 = ?1" : fmt::format("?1 = ?1 AND {}.{} = {}", table, source.key, source.value));
}

// The expression of the index tally_by_recent.
constexpr std::string_view kRecentKey = "(CASE WHEN recent > 0 THEN log2(recent) + recent_ms / 604800000.0 END)";

// The columns of each board's sums, in the order of Board, and the joins that find them for the holder `id`.
struct SumsSql {
  std::string columns;
  std::string joins;
};
SumsSql sums_sql(Holder of, std::string_view id) {
  SumsSql sql;
  for (std::size_t i = 0; i < leaderboard::kBoards; ++i) {
    if (static_cast<Board>(i) == Board::recent) continue;
    sql.columns += fmt::format(", sums{0}.samples, sums{0}.credit", i);
    const std::string name = fmt::format("sums{}", i);
    sql.joins += fmt::format(" LEFT JOIN {} AS {} ON {} AND {}.holder = {}", kSources[i].table, name,
                             is_of(of, kSources[i], name), name, id);
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
      " WHERE {0}.id = ?2 AND CAST(?3 AS BIGINT) IS NOT NULL",
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

// The values of `columns` for the holder that `parameter` names.
std::string value_of(const BoardSql& board, std::string_view columns, std::string_view parameter) {
  return fmt::format("(SELECT {} FROM {} AND holder = {})", columns, board.from, parameter);
}

// Where the holder that `parameter` names bounds a range of the board: `relation` is one of > and <=. SQLite finds no
// end of a range in a comparison of rows that begin with an expression, so the expression is compared alone as well.
std::string bound(const BoardSql& board, std::string_view relation, std::string_view parameter) {
  const std::string columns = key_columns(board);
  std::string sql = fmt::format("({}) {} {}", columns, relation, value_of(board, columns, parameter));
  if (board.recent_key.empty()) return sql;
  return sql + fmt::format(" AND {} {} {}", board.recent_key,
                           relation == ">" ? ">=" : "<=", value_of(board, board.recent_key, parameter));
}

}  // namespace

// The plus keeps SQLite from using "more than nothing" as the end of an index's range in queries that count a place:
// these have ends of their own.
BoardSql board_sql(Holder of, Board board) {
  const Source& source = kSources[static_cast<std::size_t>(board)];
  const bool recent = board == Board::recent;
  return {fmt::format("{0} WHERE {1} AND shown = 1 AND {2}", source.table, is_of(of, source, source.table),
                      recent ? fmt::format("{} IS NOT NULL", kRecentKey) : "+credit > 0"),
          recent ? fmt::format("{} DESC, holder", kRecentKey) : "credit DESC, samples DESC, holder",
          recent ? kRecentKey : std::string_view()};
}

std::string rank_sql(const BoardSql& board) {
  return fmt::format("SELECT count(*) FROM {} AND {}", board.from, bound(board, ">", "?2"));
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
  STARLING_ASSIGN(Statement count, connection.prepare(rank_sql(board) + " AND " + bound(board, "<=", "?3")));
  STARLING_TRY(count.bind(run, holder, ahead.holder).step().status());
  return ahead.rank + count.integer(0);
}

const std::string& standing_sql(Holder of) {
  static const std::string team_name = fmt::format("coalesce(team.id, 0), coalesce({}, '')", team_name_sql("?3"));
  static const std::string own_name = team_name_sql("?3");
  static const std::array<std::string, 3> texts = {
      standing_text(Holder::volunteer,
                    {"account", "display_name", team_name, " LEFT JOIN team ON team.id = account.team_id"}),
      standing_text(Holder::team, {"team", own_name, "0, ''"}),
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

// Looks each name up in the order of names, so that the limit ends the search early.
std::string found_sql(Holder of) {
  switch (of) {
    case Holder::volunteer:
      return "SELECT id AS found, name_fold AS name FROM account WHERE name_fold LIKE ?2 ESCAPE '\\' AND EXISTS "
             "(SELECT 1 FROM tally WHERE kind = 0 AND holder = account.id) ORDER BY name_fold LIMIT ?3";
    case Holder::team:
      return fmt::format(
          "SELECT id AS found, name_fold AS name FROM team WHERE name_fold LIKE ?2 ESCAPE '\\' AND EXISTS (SELECT "
          "1 FROM tally WHERE kind = 1 AND holder = team.id) AND NOT {} ORDER BY name_fold LIMIT ?3",
          team_kept_out_sql("?4"));
    case Holder::computer:
      return "SELECT host.id AS found, a.name_fold AS name FROM account AS a JOIN host ON host.account_id = a.id "
             "WHERE a.shows_computers = 1 AND a.name_fold LIKE ?2 ESCAPE '\\' AND EXISTS (SELECT 1 FROM tally WHERE "
             "kind = 2 AND holder = host.id AND shown = 1) ORDER BY a.name_fold LIMIT ?3";
  }
  return "";
}

}  // namespace

std::string matches_sql(Holder of, const BoardSql& board) {
  return fmt::format(
      "SELECT found, holder IS NOT NULL FROM ({}) AS matching LEFT JOIN (SELECT * FROM {}) AS place ON holder = found "
      "WHERE CAST(?4 AS BIGINT) IS NOT NULL ORDER BY holder IS NULL, {}, name",
      found_sql(of), board.from, board.order);
}

const std::string& named_sql(Holder of) {
  static const std::array<std::string, 3> texts = {
      fmt::format("SELECT a.id FROM account AS a JOIN tally AS t ON t.kind = 0 AND t.holder = a.id WHERE a.id = {}",
                  key_of_name(kAccountNames, "?1", "?2")),
      fmt::format("SELECT team.id FROM team JOIN tally AS t ON t.kind = 1 AND t.holder = team.id WHERE team.id = {}",
                  key_of_name(kTeamNames, "?1", "?2")),
      "SELECT id FROM host WHERE ?1 <> ?1 AND ?2 <> ?2"};  // a computer has no name of its own
  return texts[static_cast<std::size_t>(of)];
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
