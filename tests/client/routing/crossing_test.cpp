#include "client/routing/crossing.h"

#include <doctest/doctest.h>

#include <vector>

using namespace starling;
using namespace starling::routing;

namespace {

// Two layers of five experts, in cells of two.
std::vector<wire::Cell> cells() {
  wire::ModelOptions model{.architecture = wire::Architecture::decoder, .layers = 2, .width = 8, .heads = 2};
  model.experts.rows = 5;
  model.experts.cells.experts = 2;
  return wire::cells_of(model);
}

using Numbers = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("tokens are sorted by the cells and experts that they go through") {
  // Three tokens with two experts each; the last one has only one.
  const Crossing crossing(cells(), 1, 2, {0, 1, 4, 1, -1, 0});
  REQUIRE(crossing.parts().size() == 2);  // nobody goes to the cell of experts 2 and 3
  const Crossing::Part& first = crossing.parts()[0];
  CHECK(first.cell == 3);  // the second layer's first
  CHECK(first.counts == Numbers{2, 2});
  CHECK(first.tokens == Numbers{0, 2, 1});
  CHECK(first.rows == Numbers{0, 1, 0, 2});
  CHECK(first.first == 0);
  const Crossing::Part& last = crossing.parts()[1];
  CHECK(last.cell == 5);
  CHECK(last.counts == Numbers{1});
  CHECK(last.tokens == Numbers{1});
  CHECK(last.rows == Numbers{0});
  CHECK(last.first == 4);
  CHECK(crossing.places() == Numbers{0, 5, 1, 3, 2});
}

TEST_CASE("what is lost is not chosen any more") {
  Crossing crossing(cells(), 0, 2, {0, 1, 4, 1, -1, 0});
  crossing.lose(0);
  CHECK(crossing.experts() == Numbers{-1, -1, 4, -1, -1, -1});
  crossing.lose(1);
  CHECK(crossing.experts() == Numbers(6, -1));
}

TEST_CASE("without a choice there are no parts") {
  const Crossing crossing(cells(), 0, 2, Numbers(4, -1));
  CHECK(crossing.parts().empty());
  CHECK(crossing.places().empty());
}

TEST_CASE("rows are taken from their places, and added there") {
  const std::vector<float> values{0, 1, 10, 11, 20, 21};
  const Numbers places{2, 0};
  CHECK(rows_at(values, places, 2) == std::vector<float>{20, 21, 0, 1});
  std::vector<float> sums = values;
  add_rows_at(std::vector<float>{1, 2, 3, 4}, places, 2, sums);
  CHECK(sums == std::vector<float>{3, 5, 10, 11, 21, 23});
}
