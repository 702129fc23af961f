#include "shared/swarm/measured_members.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "shared/protocol/audit.h"

using namespace starling;
using namespace starling::swarm;

namespace {

Hash128 digest(std::uint8_t number) {
  Hash128 digest;
  digest.bytes.fill(7);
  digest.bytes[1] = number;
  return digest;
}

}  // namespace

TEST_CASE("all members of a small group are measured, and 32 of a large one, evenly") {
  CHECK(measured_members(digest(1), 3) == std::vector<std::size_t>{0, 1, 2});
  CHECK(measured_members(digest(1), 32).size() == 32);
  std::map<std::size_t, int> times;
  for (std::uint8_t i = 0; i < 250; ++i) {
    const std::vector<std::size_t> drawn = measured_members(digest(i), 64);
    CHECK(drawn.size() == wire::kMeasuredMax);
    CHECK(std::is_sorted(drawn.begin(), drawn.end()));
    CHECK(std::adjacent_find(drawn.begin(), drawn.end()) == drawn.end());
    CHECK(drawn.back() < 64);
    for (const std::size_t rank : drawn) ++times[rank];
  }
  for (std::size_t rank = 0; rank < 64; ++rank) {  // half of 250, give or take five standard deviations
    CHECK(times[rank] > 85);
    CHECK(times[rank] < 165);
  }
  CHECK(measured_members(digest(1), 64) != measured_members(digest(2), 64));
}

TEST_CASE("parts are sketched that are not empty, at most 32 of them") {
  wire::GroupInfo plan;
  plan.members.resize(5);
  plan.members[1].part_floats = 10;
  plan.members[4].part_floats = 20;
  CHECK(sketched_parts(digest(1), plan) == std::vector<std::size_t>{1, 4});
  plan.members.resize(100);
  for (std::size_t rank = 0; rank < 100; rank += 2) plan.members[rank].part_floats = 1;
  const std::vector<std::size_t> drawn = sketched_parts(digest(1), plan);
  CHECK(drawn.size() == wire::kMeasuredMax);
  for (const std::size_t rank : drawn) CHECK(plan.members[rank].part_floats > 0);
}
