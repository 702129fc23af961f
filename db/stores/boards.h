// The SQL of boards: whose, in which order, and what a row of them says. Inside db/stores only.
#pragma once

#include <string>
#include <string_view>

#include "db/sql/connection.h"
#include "db/stores/credit_stores.h"

namespace starling::db {

// A board: SELECT id FROM from ORDER BY order. The order is an index's, so that no board is ever sorted. ?1 is the run.
struct BoardSql {
  std::string_view id;
  std::string from;
  std::string order;
  std::string_view recent_key = {};  // of Board::recent: what it is ordered by, upwards
};
BoardSql board_sql(Holder of, Board board);

// How many are before ?2.
std::string rank_sql(const BoardSql& board);
// A holder's place on the board, from 1; 0: it is not on it. Counts entries of the board's index.
Result<std::int64_t> rank_on(Connection& connection, const BoardSql& board, const RunId& run, std::int64_t holder);
// The same of one who is known to be on it behind `ahead`, whose place is known: only what is between them is counted.
struct Ranked {
  std::int64_t holder = 0;
  std::int64_t rank = 0;
};
Result<std::int64_t> rank_behind(Connection& connection, const BoardSql& board, const RunId& run, const Ranked& ahead,
                                 std::int64_t holder);

// Everything about one holder that boards show, for read_standing(). ?1 is the run, ?2 the holder.
const std::string& standing_sql(Holder of);
Standing read_standing(const Statement& row);

// The first ?3 by name of those whose name is like ?2, in the board's order, and whether they are on it: those that are
// not come last.
std::string matches_sql(Holder of, const BoardSql& board);
// The one whose name is ?1.
std::string_view named_sql(Holder of);

// `text` anywhere in a name, whatever it holds.
std::string like_pattern(std::string_view text);

}  // namespace starling::db
