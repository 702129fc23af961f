// The vectors that travel in place of a gradient that is averaged by low-rank products (client/averaging/power_sgd.h):
// two, one after the other. Coordinator and members must agree on both.
//
//   left vector    the left factors of each matrix, each with one float for every row of the matrix
//   right vector   the right factors of each matrix, each with one float for every column; then everything else
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "shared/run/model_layout.h"

namespace starling::wire {

constexpr int kLowRankMax = 64;
// A matrix is sent as factors where these have fewer floats by at least this factor.
constexpr std::size_t kLowRankGainMin = 2;

// A matrix that travels as products, and the places of its factors.
struct LowRankMatrix {
  std::size_t offset = 0;  // in the flat vector, row by row
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t left_at = 0;   // place of its factors in the left vector
  std::size_t right_at = 0;  // place of its factors in the right vector
};

// Coordinates that travel unchanged.
struct PlainRun {
  std::size_t offset = 0;  // in the flat vector
  std::size_t count = 0;
  std::size_t right_at = 0;
};

// The division of the flat vector into matrices that travel as products and floats that travel as they are.
struct LowRankLayout {
  std::size_t rank = 0;  // factors of each matrix
  std::vector<LowRankMatrix> matrices;
  std::vector<PlainRun> plain;
  std::size_t floats = 0;       // length of the flat vector
  std::size_t left_floats = 0;  // at least 1, if any matrix is worth it
  std::size_t right_floats = 0;
};

// rank: 1 to kLowRankMax.
LowRankLayout low_rank_layout(const std::vector<ParameterInfo>& parameters, int rank);

// Floats that a member's averaging of a round is planned for: the whole gradient, both vectors in its place, or a
// fragment.
std::int64_t averaged_floats(const RunManifest& manifest);

}  // namespace starling::wire
