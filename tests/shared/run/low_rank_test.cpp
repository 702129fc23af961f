#include "shared/run/low_rank.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace starling;
using namespace starling::wire;

TEST_CASE("every coordinate of a model travels once: in a matrix's factors, or as it is") {
  const ModelOptions model{.layers = 3, .width = 64, .heads = 4, .context = 96};
  for (const int rank : {1, 4, 16, kLowRankMax}) {
    CAPTURE(rank);
    const LowRankLayout layout = low_rank_layout(model_layout(model), rank);
    CHECK(layout.floats == parameter_count(model));
    std::vector<int> named(layout.floats);
    std::size_t left = 0;
    std::size_t right = 0;
    for (const LowRankMatrix& matrix : layout.matrices) {
      CHECK(matrix.left_at == left);
      CHECK(matrix.right_at == right);
      left += layout.rank * matrix.rows;
      right += layout.rank * matrix.columns;
      CHECK(layout.rank * (matrix.rows + matrix.columns) * kLowRankGainMin <= matrix.rows * matrix.columns);
      for (std::size_t i = 0; i < matrix.rows * matrix.columns; ++i) ++named[matrix.offset + i];
    }
    for (const PlainRun& run : layout.plain) {
      CHECK(run.right_at == right);
      right += run.count;
      for (std::size_t i = 0; i < run.count; ++i) ++named[run.offset + i];
    }
    CHECK(left == layout.left_floats);
    CHECK(right == layout.right_floats);
    CHECK(std::all_of(named.begin(), named.end(), [](int times) { return times == 1; }));
    CHECK(layout.left_floats + layout.right_floats <= layout.floats);
  }
  // For 64 columns, 32 factors of each side are never half as many floats.
  CHECK(low_rank_layout(model_layout(model), 32).matrices.empty());
  CHECK(low_rank_layout(model_layout(model), 4).matrices.size() == 3 + 4 * 3);
}
