#include "shared/leaderboard/columns.h"

#include <doctest/doctest.h>

#include <set>

using namespace starling::leaderboard;

TEST_CASE("no two columns have a name in common, nor a word to sort by, nor a figure") {
  std::set<std::string_view> names;
  std::set<std::string_view> words;
  std::set<std::pair<Board, Unit>> figures;
  for (const Column& column : kColumns) {
    CAPTURE(column.name);
    CHECK(names.insert(column.name).second);
    CHECK(figures.insert({column.board, column.unit}).second);
    if (!column.sort.empty()) CHECK(words.insert(column.sort).second);
  }
}

TEST_CASE("each board has one column that it is ordered by, with a text wherever an order is chosen") {
  for (std::size_t i = 0; i < kBoards; ++i) {
    const auto board = static_cast<Board>(i);
    const Column& column = column_of(board);
    CAPTURE(column.name);
    CHECK(column.board == board);
    CHECK(board_named(column.sort) == board);
    for (const std::string_view text : {column.heading, column.title, column.order}) CHECK_FALSE(text.empty());
  }
  CHECK(sort_words() == std::vector<std::string>{"recent", "total", "run", "day", "week"});
  for (const char* word : {"", "<b>", "Recent"}) CHECK(board_named(word) == Board::recent);
}

TEST_CASE("a figure is found by its column's place and by what it counts") {
  Figures figures;
  figures.of(Board::day, Unit::samples) = 7;
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    CHECK(figures.at(i) == (kColumns[i].name == "day_samples" ? 7 : 0));
  }
}
