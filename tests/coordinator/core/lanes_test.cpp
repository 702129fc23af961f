#include "coordinator/core/lanes.h"

#include <doctest/doctest.h>

#include "tests/coordinator/core/swarm_harness.h"

namespace starling::core::testing {
namespace {

constexpr auto kNobodyHere = [](const PeerId&) { return false; };
constexpr auto kAllHere = [](const PeerId&) { return true; };

}  // namespace

TEST_CASE("lanes are the smallest free numbers, and kept") {
  LaneTable lanes(4, 0, {{peer_id(7), 1}});
  CHECK((*lanes.assign(peer_id(1), 0, kAllHere))->holder.lane == 0);
  CHECK((*lanes.assign(peer_id(2), 0, kAllHere))->holder.lane == 2);
  CHECK_FALSE(lanes.assign(peer_id(2), 9, kAllHere)->has_value());
  CHECK_FALSE(lanes.assign(peer_id(7), 9, kAllHere)->has_value());
  CHECK(lanes.lane_of(peer_id(7)) == 1);
}

TEST_CASE("a full run takes back the lane that was idle longest, but never within a round") {
  LaneTable lanes(2, 0, {});
  (void)lanes.assign(peer_id(1), 5, kAllHere);
  (void)lanes.assign(peer_id(2), 6, kAllHere);
  CHECK(lanes.assign(peer_id(3), 9, kAllHere).error().code == ErrorCode::resource_exhausted);
  CHECK_FALSE(lanes.assign(peer_id(3), 6, kNobodyHere).ok());  // both may have samples in round 5 or 6
  const auto taken = lanes.assign(peer_id(3), 7, kNobodyHere);
  REQUIRE(taken.ok());
  CHECK((*taken)->holder.lane == 0);
  CHECK((*taken)->displaced == peer_id(1));
}

TEST_CASE("a swarm never has two members in one lane, across restarts") {
  Swarm swarm;
  for (int i = 1; i <= 5; ++i) swarm.add(i);
  swarm.run_for(std::chrono::seconds(2));
  swarm.restart_coordinator();
  for (int i = 6; i <= 9; ++i) swarm.add(i);
  swarm.run_for(std::chrono::seconds(2));
  std::set<int> lanes;
  for (int i = 1; i <= 9; ++i) CHECK(lanes.insert(swarm.member(i).last_reply.lane).second);
  CHECK(*lanes.rbegin() == 8);
}

}  // namespace starling::core::testing
