// The SQL of boards: their holders, their order, and the content of their rows. Inside db/stores only.
#pragma once

#include <string>
#include <string_view>

#include "db/sql/connection.h"
#include "db/stores/credit_stores.h"

namespace starling::db {

// A board: SELECT holder FROM from ORDER BY order. The order is that of an index, so no board is ever sorted. ?1 is the
// run.
struct BoardSql {
  std::string from;
  std::string order;
  std::string_view recent_key = {};  // for Board::recent: the expression it is ordered by, ascending
};
BoardSql board_sql(Holder of, Board board);

// Counts the holders before ?2.
std::string rank_sql(const BoardSql& board);
// A holder's place on the board, from 1; 0: it is not on it. Counts entries of the board's index.
Result<std::int64_t> rank_on(Connection& connection, const BoardSql& board, const RunId& run, std::int64_t holder);
// The place of a holder known to be on the board behind `ahead`, whose place is known: only holders between them are
// counted.
struct Ranked {
  std::int64_t holder = 0;
  std::int64_t rank = 0;
};
Result<std::int64_t> rank_behind(Connection& connection, const BoardSql& board, const RunId& run, const Ranked& ahead,
                                 std::int64_t holder);

// Everything about one holder that boards show, for read_standing(). ?1 is the run, ?2 the holder, ?3 the time.
const std::string& standing_sql(Holder of);
Standing read_standing(const Statement& row);

// The first ?3 by name of the holders whose name, folded, is like ?2, in the board's order, and whether they are on it:
// those not on it come last. ?4 is the time.
std::string matches_sql(Holder of, const BoardSql& board);
// The holder whose name is ?1, with NameKeys::fold ?2.
const std::string& named_sql(Holder of);

// Matches `text` anywhere in a name, whatever characters it holds.
std::string like_pattern(std::string_view text);

}  // namespace starling::db
