#include "tests/sim/allocation.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "shared/base/verify.h"
#include "shared/swarm/shares.h"

namespace starling::sim {
namespace {

constexpr double kBitsOfFloat = 32;
constexpr double kMegabit = 1e6;

// Returns the time of a butterfly all-reduce with these shares, in the longer of both directions, which carry equal
// volumes here: a contribution to each other owner, and the own part to everybody.
double seconds(const Lines& lines, const std::vector<double>& shares) {
  const auto others = static_cast<double>(lines.mbit_s.size() - 1);
  double longest = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    longest = std::max(longest, ((1 - shares[i]) + shares[i] * others) / lines.mbit_s[i]);
  }
  return longest;
}

}  // namespace

std::vector<Lines> allocation_lines() {
  const auto lines = [](const char* name, const std::vector<std::pair<int, double>>& kinds) {
    Lines all{name, {}};
    for (const auto& [count, mbit_s] : kinds) all.mbit_s.insert(all.mbit_s.end(), count, mbit_s);
    return all;
  };
  return {lines("16 × 100", {{16, 100}}), lines("2 × 200 + 2 × 50", {{2, 200}, {2, 50}}),
          lines("2 × 1000 + 14 × 100", {{2, 1000}, {14, 100}}), lines("4 × 1000 + 28 × 100", {{4, 1000}, {28, 100}}),
          lines("1000, 500, 2 × 200, 4 × 100, 4 × 50, 4 × 20",
                {{1, 1000}, {1, 500}, {2, 200}, {4, 100}, {4, 50}, {4, 20}})};
}

AllocationTimes allocation_times(const Lines& lines) {
  const std::size_t count = lines.mbit_s.size();
  VERIFY(count > 2);
  const double total = std::accumulate(lines.mbit_s.begin(), lines.mbit_s.end(), 0.0);
  std::vector<double> by_speed, server(count);
  std::vector<swarm::Load> loads;
  for (const double mbit_s : lines.mbit_s) {
    by_speed.push_back(mbit_s / total);
    loads.push_back({{mbit_s * kMegabit / 8, mbit_s * kMegabit / 8}});
  }
  const auto fastest = std::max_element(lines.mbit_s.begin(), lines.mbit_s.end()) - lines.mbit_s.begin();
  server[static_cast<std::size_t>(fastest)] = 1;
  const std::vector<double> equal(count, 1 / static_cast<double>(count));
  const swarm::Shares allocated = swarm::share_out(loads, {kMegabit / kBitsOfFloat});
  return {seconds(lines, equal), seconds(lines, server), seconds(lines, by_speed), seconds(lines, allocated.of)};
}

}  // namespace starling::sim
