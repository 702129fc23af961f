#include "client/routing/gate_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "shared/base/verify.h"

namespace starling::routing {
namespace {

float finite_or_worst(float score) { return std::isfinite(score) ? score : std::numeric_limits<float>::lowest() / 4; }

// Sorts the places of the scores, the highest score first, equal ones by their number.
void sort_by_score(std::span<const float> scores, std::vector<std::int32_t>& order) {
  order.resize(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](std::int32_t one, std::int32_t other) {
    const float a = finite_or_worst(scores[static_cast<std::size_t>(one)]);
    const float b = finite_or_worst(scores[static_cast<std::size_t>(other)]);
    return a != b ? a > b : one < other;
  });
}

}  // namespace

GateSearch::GateSearch(Grid grid, int active) : grid_(grid), active_(active) {
  VERIFY(grid.rows >= 1 && grid.columns >= 1 && active >= 1 && active <= 64);
  columns_.assign(1, 0);
}

bool GateSearch::is_worse(const Pair& one, const Pair& other) {
  return one.score != other.score ? one.score < other.score : one.expert > other.expert;
}

GateSearch::Pair GateSearch::pair_at(std::span<const float> scores, int row, int column) const {
  const std::int32_t at_row = rows_[static_cast<std::size_t>(row)];
  const std::int32_t at_column = columns_[static_cast<std::size_t>(column)];
  float score = finite_or_worst(scores[static_cast<std::size_t>(at_row)]);
  if (grid_.columns > 1) score += finite_or_worst(scores[static_cast<std::size_t>(grid_.rows + at_column)]);
  return {score, at_row * grid_.columns + at_column, row, column};
}

void GateSearch::choose_one(const std::vector<bool>& held, std::span<const float> scores,
                            std::span<std::int32_t> chosen) {
  sort_by_score(scores.first(static_cast<std::size_t>(grid_.rows)), rows_);
  if (grid_.columns > 1) sort_by_score(scores.subspan(static_cast<std::size_t>(grid_.rows)), columns_);
  // A pair enters when the one above it in its column has left, those of the first row when their left neighbour has:
  // each enters once, and none before a better one of its row or column.
  frontier_.assign(1, pair_at(scores, 0, 0));
  std::size_t found = 0;
  while (found < chosen.size() && !frontier_.empty()) {
    std::ranges::pop_heap(frontier_, is_worse);
    const Pair best = frontier_.back();
    frontier_.pop_back();
    const auto enter = [&](int row, int column) {
      frontier_.push_back(pair_at(scores, row, column));
      std::ranges::push_heap(frontier_, is_worse);
    };
    if (best.row + 1 < grid_.rows) enter(best.row + 1, best.column);
    if (best.row == 0 && best.column + 1 < grid_.columns) enter(0, best.column + 1);
    if (held[static_cast<std::size_t>(best.expert)]) chosen[found++] = best.expert;
  }
  std::fill(chosen.begin() + static_cast<std::ptrdiff_t>(found), chosen.end(), kNoExpert);
}

void GateSearch::choose(const std::vector<bool>& held, std::span<const float> scores, std::span<std::int32_t> chosen) {
  const auto active = static_cast<std::size_t>(active_);
  const std::size_t tokens = chosen.size() / active;
  VERIFY(std::ssize(held) == grid_.experts());
  VERIFY(chosen.size() == tokens * active && scores.size() == tokens * grid_.scores());
  for (std::size_t token = 0; token < tokens; ++token) {
    choose_one(held, scores.subspan(token * grid_.scores(), grid_.scores()), chosen.subspan(token * active, active));
  }
}

}  // namespace starling::routing
