// The choice of experts for tokens by the scores of a gate: of those that somebody holds, the ones with the highest
// sums of row and column score (product keys; Lample et al., arXiv 1907.05242, section 3.1). It is exact for every
// grid: rows and columns are sorted, and their pairs visited from the best one on, so that a grid of n x n experts
// costs a token two sorts of n and some pairs, and experts that nobody holds are passed over. A beam over prefixes, as
// Learning@home has it (arXiv 2002.04013, section 3.2), is for tables that are far away; this one is here. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace starling::routing {

// The grid of a layer's experts: expert = row * columns + column.
struct Grid {
  int rows = 0;
  int columns = 1;
  [[nodiscard]] int experts() const { return rows * columns; }
  // Scores of a token: of the rows, then of the columns, which a grid of one column has none of.
  [[nodiscard]] std::size_t scores() const { return static_cast<std::size_t>(columns > 1 ? rows + columns : rows); }
};

constexpr std::int32_t kNoExpert = -1;

class GateSearch {
 public:
  // 1 <= active <= 64.
  GateSearch(Grid grid, int active);

  // held: by expert, whether it can be chosen. scores: [tokens, grid.scores()]. Writes the experts of each token into
  // `chosen`, [tokens, active], the best first; equal ones by their number. Where fewer are held than a token may have,
  // kNoExpert stands in the rest. Scores that are not finite are the worst.
  void choose(const std::vector<bool>& held, std::span<const float> scores, std::span<std::int32_t> chosen);

 private:
  // A place in the sorted rows and columns.
  struct Pair {
    float score = 0;
    std::int32_t expert = 0;
    int row = 0;
    int column = 0;
  };
  static bool is_worse(const Pair& one, const Pair& other);
  void choose_one(const std::vector<bool>& held, std::span<const float> scores, std::span<std::int32_t> chosen);
  [[nodiscard]] Pair pair_at(std::span<const float> scores, int row, int column) const;

  Grid grid_;
  int active_;
  // Kept from token to token, so that none is allocated for each.
  std::vector<std::int32_t> rows_;
  std::vector<std::int32_t> columns_;
  std::vector<Pair> frontier_;  // a heap
};

}  // namespace starling::routing
