// Counts units that were computed for others: by caller and cell, for receipts and credit; and by cell, with the
// samples whose gradient they are, for the cell's next step. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "shared/base/ids.h"
#include "shared/run/cells.h"

namespace starling::serving {

// Units that were computed for a caller in a cell.
struct Served {
  PeerId caller;
  wire::CellIndex cell = 0;
  std::int64_t units_forth = 0;
  std::int64_t units_back = 0;
};

// A cell's gradient since it was last taken.
struct Weights {
  SampleCount samples = 0;      // that count in it, as callers say
  std::int64_t units_back = 0;  // that were computed and have added to it
};

class Account {
 public:
  // samples_max: of one caller, that count in a cell's gradient until it is taken. A sample counts in a cell even if no
  // unit of it came there (its gradient is 0 then), so that units prove nothing; the bound keeps one liar from making
  // the others' gradient small at will.
  explicit Account(SampleCount samples_max) : samples_max_(samples_max) {}

  void on_computed(const PeerId& caller, wire::CellIndex cell, bool is_back, std::int64_t units);
  // The caller says that this many more of its samples count in the cell's gradient. Returns how many are accepted.
  SampleCount add_weight(const PeerId& caller, wire::CellIndex cell, SampleCount samples);

  // Both return what has come since they were last called.
  [[nodiscard]] std::vector<Served> take_served();
  [[nodiscard]] Weights take_weights(wire::CellIndex cell);

 private:
  struct Gradient {
    std::map<PeerId, SampleCount> samples;
    std::int64_t units = 0;
  };

  SampleCount samples_max_;
  std::map<std::pair<PeerId, wire::CellIndex>, Served> served_;
  std::map<wire::CellIndex, Gradient> gradients_;
};

}  // namespace starling::serving
