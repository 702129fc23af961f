// Who reduces how much of the vector, and how long an averaging takes then, over lines of different speeds: the
// product's allocation (shared/swarm/shares.h) beside what is fixed beforehand.
#pragma once

#include <string>
#include <vector>

namespace starling::sim {

// Of all members' lines, both ways, in Mbit/s.
struct Lines {
  std::string name;
  std::vector<double> mbit_s;  // at least 3
};
// Those that DeDLOC's allocation is shown on.
std::vector<Lines> allocation_lines();

// Seconds for a vector of one megabit, however long it is.
struct AllocationTimes {
  double equal_parts = 0;  // all-reduce
  double one_server = 0;   // the member with the fastest line reduces everything
  double by_speed = 0;     // parts in proportion to lines
  double allocated = 0;    // the product's
};
AllocationTimes allocation_times(const Lines& lines);

}  // namespace starling::sim
