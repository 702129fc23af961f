// How long a computer takes for a unit of each cell, by the batches so far: a mean in which each batch counts a tenth
// less than the next. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "shared/base/clock.h"
#include "shared/run/cells.h"

namespace starling::serving {

class ComputeTimes {
 public:
  // The time for this many units. A cell that has not been computed yet is taken for a usual one; 0 while nothing is
  // known.
  [[nodiscard]] Duration expected(wire::CellIndex cell, bool is_back, std::int64_t units) const;
  // units >= 1; seconds: 0 or more, for all of them.
  void add(wire::CellIndex cell, bool is_back, std::int64_t units, double seconds);

 private:
  using Mean = std::optional<double>;  // seconds for a unit
  std::map<std::pair<wire::CellIndex, bool>, double> by_cell_;
  std::array<Mean, 2> of_all_;  // forth, back
};

}  // namespace starling::serving
