// The division of the vector among its reducers, and the time that an averaging takes then, over lines of different
// speeds: the product's allocation (shared/swarm/shares.h) beside fixed ones.
#pragma once

#include <string>
#include <vector>

namespace starling::sim {

// The lines of all members, both ways, in Mbit/s.
struct Lines {
  std::string name;
  std::vector<double> mbit_s;  // at least 3
};
// The lines on which DeDLOC's allocation is shown.
std::vector<Lines> allocation_lines();

// Seconds for a vector of one megabit; they are in proportion to its length.
struct AllocationTimes {
  double equal_parts = 0;  // all-reduce
  double one_server = 0;   // the member with the fastest line reduces everything
  double by_speed = 0;     // parts in proportion to lines
  double allocated = 0;    // the product's
};
AllocationTimes allocation_times(const Lines& lines);

}  // namespace starling::sim
