// The SQL of boards: whose, in which order, and what a row of them says. Inside db/stores only.
#pragma once

#include <string>
#include <string_view>

#include "db/sql/statement.h"
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

// Everything about one holder that boards show, for read_standing(). ?1 is the run, ?2 the holder.
const std::string& standing_sql(Holder of);
Standing read_standing(const Statement& row);

// Those whose name is like ?1, at most ?2, by name.
std::string_view matches_sql(Holder of);
// The one whose name is ?1.
std::string_view named_sql(Holder of);

// `text` anywhere in a name, whatever it holds.
std::string like_pattern(std::string_view text);

}  // namespace starling::db
