#include "tests/sim/allocation_command.h"

#include <fmt/format.h>

#include <algorithm>

#include "shared/base/files.h"
#include "tests/plots/dot_plot.h"
#include "tests/sim/allocation.h"

namespace starling::sim {
namespace {

void print_table() {
  fmt::print(
      "Seconds for a vector of a megabit\n\n| lines, Mbit/s | equal parts | one server | by speed | allocated | times "
      "faster than the first two |\n|---|---|---|---|---|---|\n");
  for (const Lines& lines : allocation_lines()) {
    const AllocationTimes times = allocation_times(lines);
    fmt::print("| {} | {:.4f} | {:.4f} | {:.4f} | {:.4f} | {:.2f} |\n", lines.name, times.equal_parts, times.one_server,
               times.by_speed, times.allocated, std::min(times.equal_parts, times.one_server) / times.allocated);
  }
}

std::string to_svg() {
  plot::DotPanel panel{"seconds for a vector of a megabit", "seconds", false, 0, {}};
  for (const Lines& lines : allocation_lines()) {
    const AllocationTimes times = allocation_times(lines);
    panel.rows.push_back({lines.name,
                          {{"equal parts", {times.equal_parts}},
                           {"one server", {times.one_server}},
                           {"by speed", {times.by_speed}},
                           {"allocated", {times.allocated}}},
                          {}});
  }
  return plot::dot_plot("Averaging over lines of different speeds", {panel});
}

}  // namespace

Status run_allocation(const AllocationArguments& arguments) {
  print_table();
  if (arguments.plot_file.empty()) return {};
  return write_file_atomically(arguments.plot_file, to_svg());
}

}  // namespace starling::sim
