#include "client/routing/gate_search.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <random>

using namespace starling::routing;

namespace {

// Makes the choice by looking at every expert.
std::vector<std::int32_t> looked_at_all(Grid grid, int active, const std::vector<bool>& held,
                                        std::span<const float> scores) {
  std::vector<std::pair<float, std::int32_t>> all;
  for (int expert = 0; expert < grid.experts(); ++expert) {
    if (!held[static_cast<std::size_t>(expert)]) continue;
    float score = scores[static_cast<std::size_t>(expert / grid.columns)];
    if (grid.columns > 1) score += scores[static_cast<std::size_t>(grid.rows + expert % grid.columns)];
    all.emplace_back(-score, expert);
  }
  std::ranges::sort(all);
  std::vector<std::int32_t> chosen(static_cast<std::size_t>(active), kNoExpert);
  for (std::size_t i = 0; i < std::min(all.size(), chosen.size()); ++i) chosen[i] = all[i].second;
  return chosen;
}

}  // namespace

TEST_CASE("the best experts that are held are found, in every grid, as by looking at all") {
  std::mt19937 random(7);
  for (const Grid grid : {Grid{1, 1}, Grid{8, 1}, Grid{4, 4}, Grid{2, 9}, Grid{16, 16}, Grid{3, 1}}) {
    for (const double share : {1.0, 0.5, 0.1, 0.0}) {
      for (const int active : {1, 2, 4}) {
        std::vector<bool> held(static_cast<std::size_t>(grid.experts()));
        for (std::size_t i = 0; i < held.size(); ++i) held[i] = std::bernoulli_distribution(share)(random);
        constexpr std::size_t kTokens = 20;
        std::vector<float> scores(kTokens * grid.scores());
        // Eighths, so that sums are exact and many are equal.
        for (float& score : scores) score = static_cast<float>(std::uniform_int_distribution(-8, 8)(random)) / 8;
        std::vector<std::int32_t> chosen(kTokens * static_cast<std::size_t>(active));
        GateSearch(grid, active).choose(held, scores, chosen);
        for (std::size_t token = 0; token < kTokens; ++token) {
          const auto of_token = std::span(scores).subspan(token * grid.scores(), grid.scores());
          const auto expected = looked_at_all(grid, active, held, of_token);
          const auto begin = chosen.begin() + static_cast<std::ptrdiff_t>(token) * active;
          CHECK(std::equal(expected.begin(), expected.end(), begin));
        }
      }
    }
  }
}

TEST_CASE("a score that is no number chooses nothing as long as there are others") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();
  std::vector<std::int32_t> chosen(2);
  GateSearch search({2, 2}, 2);
  search.choose(std::vector<bool>(4, true), std::vector<float>{nan, 1, 0, -1}, chosen);
  CHECK(chosen == std::vector<std::int32_t>{2, 3});
  search.choose(std::vector<bool>(4, true), std::vector<float>{0, 1, infinite, -1}, chosen);
  CHECK(chosen == std::vector<std::int32_t>{3, 1});
  search.choose(std::vector<bool>(4, true), std::vector<float>(4, nan), chosen);
  CHECK(chosen == std::vector<std::int32_t>{0, 1});
}
