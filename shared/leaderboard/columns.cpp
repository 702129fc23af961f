#include "shared/leaderboard/columns.h"

#include <algorithm>

#include "shared/base/verify.h"

namespace starling::leaderboard {
namespace {

std::size_t index_of(Board board, Unit unit) {
  const auto* found = std::find_if(kColumns.begin(), kColumns.end(),
                                   [&](const Column& column) { return column.board == board && column.unit == unit; });
  VERIFY(found != kColumns.end());
  return static_cast<std::size_t>(found - kColumns.begin());
}

}  // namespace

const Column& column_of(Board board) {
  const auto* found = std::find_if(kColumns.begin(), kColumns.end(),
                                   [&](const Column& column) { return column.board == board && !column.sort.empty(); });
  VERIFY(found != kColumns.end());
  return *found;
}

Board board_named(std::string_view sort) {
  const auto* found = std::find_if(kColumns.begin(), kColumns.end(),
                                   [&](const Column& column) { return !sort.empty() && column.sort == sort; });
  return found == kColumns.end() ? Board::recent : found->board;
}

std::vector<std::string> sort_words() {
  std::vector<std::string> words;
  for (const Column& column : kColumns) {
    if (!column.sort.empty()) words.emplace_back(column.sort);
  }
  return words;
}

double Figures::of(Board board, Unit unit) const { return values_[index_of(board, unit)]; }
double& Figures::of(Board board, Unit unit) { return values_[index_of(board, unit)]; }

}  // namespace starling::leaderboard
