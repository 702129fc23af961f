#include "db/stores/boards.h"

#include <fmt/core.h>

#include "db/stores/sql_teams.h"
#include "db/stores/tallies.h"

namespace starling::db {
namespace {

// The plus keeps SQLite from using "more than nothing" as the end of an index's range in queries that count a place:
// these have ends of their own.
BoardSql volunteer_board(Board board) {
  const std::string order = "credit DESC, samples DESC, account_id";
  switch (board) {
    case Board::recent:
      return {"account_id", "account_total WHERE ?1 = ?1 AND recent_key IS NOT NULL", "recent_key DESC, account_id",
              "recent_key"};
    case Board::total:
      return {"account_id", "account_total WHERE ?1 = ?1 AND +credit > 0", order};
    case Board::run:
      return {"account_id", "volunteer_total WHERE run_id = ?1 AND +credit > 0", order};
    case Board::day:
      return {"account_id", "window_total WHERE ?1 = ?1 AND days = 1 AND +credit > 0", order};
    case Board::week:
      return {"account_id", "window_total WHERE ?1 = ?1 AND days = 7 AND +credit > 0", order};
  }
  return {};
}

// The expression of the index tally_by_recent.
constexpr std::string_view kRecentKey = "(CASE WHEN recent > 0 THEN log2(recent) + recent_ms / 604800000.0 END)";

BoardSql tally_board(TallyKind kind, Board board) {
  const std::string order = "credit DESC, samples DESC, holder";
  const auto from = [&](std::string_view table, std::string_view which) {
    return fmt::format("{} WHERE kind = {} AND shown = 1 AND {}", table, static_cast<int>(kind), which);
  };
  switch (board) {
    case Board::recent:
      return {"holder", from("tally", fmt::format("?1 = ?1 AND {} IS NOT NULL", kRecentKey)),
              fmt::format("{} DESC, holder", kRecentKey), kRecentKey};
    case Board::total:
      return {"holder", from("tally", "?1 = ?1 AND +credit > 0"), order};
    case Board::run:
      return {"holder", from("tally_run", "run = (SELECT number FROM run WHERE run_id = ?1) AND +credit > 0"), order};
    case Board::day:
      return {"holder", from("tally_window", "?1 = ?1 AND days = 1 AND +credit > 0"), order};
    case Board::week:
      return {"holder", from("tally_window", "?1 = ?1 AND days = 7 AND +credit > 0"), order};
  }
  return {};
}

constexpr std::string_view kSums =
    " t.last_ms, t.recent, t.recent_ms, t.samples, t.credit, r.samples, r.credit, d.samples, d.credit, w.samples,"
    " w.credit";

std::string volunteer_sql() {
  return fmt::format(
      "SELECT a.id, a.display_name, a.created_ms,{}, coalesce(team.id, 0), coalesce({}, '') FROM account AS a"
      " LEFT JOIN team ON team.id = a.team_id"
      " LEFT JOIN account_total AS t ON t.account_id = a.id"
      " LEFT JOIN volunteer_total AS r ON r.run_id = ?1 AND r.account_id = a.id"
      " LEFT JOIN window_total AS d ON d.days = 1 AND d.account_id = a.id"
      " LEFT JOIN window_total AS w ON w.days = 7 AND w.account_id = a.id"
      " WHERE a.id = ?2",
      kSums, kTeamNameSql);
}

std::string tally_sql(TallyKind kind, std::string_view name, std::string_view from) {
  return fmt::format(
      "SELECT {2}.id, {1}, {2}.created_ms,{3}, 0, '' FROM {2}"
      " LEFT JOIN tally AS t ON t.kind = {0} AND t.holder = {2}.id"
      " LEFT JOIN tally_run AS r ON r.kind = {0} AND r.run = (SELECT number FROM run WHERE run_id = ?1)"
      " AND r.holder = {2}.id"
      " LEFT JOIN tally_window AS d ON d.kind = {0} AND d.days = 1 AND d.holder = {2}.id"
      " LEFT JOIN tally_window AS w ON w.kind = {0} AND w.days = 7 AND w.holder = {2}.id"
      " WHERE {2}.id = ?2",
      static_cast<int>(kind), name, from, kSums);
}

// Owner's name and the computer's number among theirs. The label that its owner gave it is not for others.
constexpr std::string_view kComputerNameSql =
    "(SELECT display_name FROM account WHERE id = host.account_id) || ', computer ' || "
    "(SELECT count(*) FROM host AS other WHERE other.account_id = host.account_id AND other.id <= host.id)";

// The columns that the board is ordered by, ascending.
std::string key_columns(const BoardSql& board) {
  return board.recent_key.empty() ? fmt::format("credit, samples, -{}", board.id)
                                  : fmt::format("{}, -{}", board.recent_key, board.id);
}

// The values of key_columns() for the holder that `parameter` names.
std::string key_of(const BoardSql& board, std::string_view parameter) {
  return fmt::format("(SELECT {} FROM {} AND {} = {})", key_columns(board), board.from, board.id, parameter);
}

}  // namespace

BoardSql board_sql(Holder of, Board board) {
  switch (of) {
    case Holder::volunteer:
      return volunteer_board(board);
    case Holder::team:
      return tally_board(TallyKind::team, board);
    case Holder::computer:
      return tally_board(TallyKind::computer, board);
  }
  return {};
}

std::string rank_sql(const BoardSql& board) {
  return fmt::format("SELECT count(*) FROM {} AND ({}) > {}", board.from, key_columns(board), key_of(board, "?2"));
}

Result<std::int64_t> rank_on(Connection& connection, const BoardSql& board, const RunId& run, std::int64_t holder) {
  STARLING_ASSIGN(Statement own,
                  connection.prepare(fmt::format("SELECT count(*) FROM {} AND {} = ?2", board.from, board.id)));
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
  static const std::string volunteer = volunteer_sql();
  static const std::string team = tally_sql(TallyKind::team, kTeamNameSql, "team");
  static const std::string computer = tally_sql(TallyKind::computer, kComputerNameSql, "host");
  return of == Holder::team ? team : of == Holder::computer ? computer : volunteer;
}

Standing read_standing(const Statement& row) {
  Standing standing;
  standing.holder_id = row.integer(0);
  standing.display_name = row.text(1);
  standing.joined = {row.integer(2)};
  standing.last_contribution = {row.integer(3)};
  standing.recent = {row.real(4), {row.integer(5)}};
  standing.total = {row.integer(6), row.integer(7)};
  standing.run = {row.integer(8), row.integer(9)};
  standing.day = {row.integer(10), row.integer(11)};
  standing.week = {row.integer(12), row.integer(13)};
  standing.team_id = row.integer(14);
  standing.team_name = row.text(15);
  return standing;
}

namespace {

std::string_view found_sql(Holder of) {
  switch (of) {
    case Holder::volunteer:
      return "SELECT a.id AS found, a.display_name AS name FROM account AS a JOIN account_total AS t ON "
             "t.account_id = a.id WHERE a.display_name LIKE ?2 ESCAPE '\\' ORDER BY a.display_name LIMIT ?3";
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
      "SELECT found, {0} IS NOT NULL FROM ({1}) AS matching LEFT JOIN (SELECT * FROM {2}) AS place ON {0} = found "
      "ORDER BY {0} IS NULL, {3}, name",
      board.id, found_sql(of), board.from, board.order);
}

std::string_view named_sql(Holder of) {
  switch (of) {
    case Holder::volunteer:
      return "SELECT a.id FROM account AS a JOIN account_total AS t ON t.account_id = a.id WHERE a.display_name = ?1";
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
