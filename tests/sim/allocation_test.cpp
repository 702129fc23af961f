#include "tests/sim/allocation.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace starling::sim;

TEST_CASE("parts shared out by lines take the least possible time, at least a third less than all-reduce or a server") {
  const AllocationTimes times =
      allocation_times({"", {1000, 1000, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100}});
  CHECK(times.equal_parts == doctest::Approx(0.01875));
  CHECK(times.one_server == doctest::Approx(0.0150));
  CHECK(times.allocated == doctest::Approx(0.0100));
}

TEST_CASE("no fixed parts are faster than allocated ones, over any of the lines, nor is a line's own contribution") {
  for (const Lines& lines : allocation_lines()) {
    CAPTURE(lines.name);
    const AllocationTimes times = allocation_times(lines);
    CHECK(times.allocated <= std::min({times.equal_parts, times.one_server, times.by_speed}) * (1 + 1e-9));
    CHECK(times.allocated >= 1 / *std::min_element(lines.mbit_s.begin(), lines.mbit_s.end()) * (1 - 1e-9));
  }
}
