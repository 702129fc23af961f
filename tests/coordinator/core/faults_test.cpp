// Members that vanish, a coordinator that restarts, and everything at once.
#include <doctest/doctest.h>

#include <random>

#include "shared/protocol/heartbeat.h"
#include "tests/coordinator/core/swarm_harness.h"

namespace starling::core::testing {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE("a member that dies costs the others little") {
  Swarm swarm;
  for (int i = 1; i <= 4; ++i) swarm.add(i, 30);
  swarm.run_for(seconds(5));
  swarm.member(4).alive = false;
  const std::size_t rounds = swarm.decided.size();
  swarm.run_for(seconds(10));
  CHECK(swarm.decided.size() - rounds >= 10);
  CHECK(swarm.decided.back().contributions.size() == 3);
}

TEST_CASE("a silent member is forgotten") {
  Swarm swarm;
  for (int i = 1; i <= 3; ++i) swarm.add(i, 30);
  swarm.run_for(seconds(5));
  CHECK(swarm.coordinator->view(swarm.now).swarm_size == 3);
  swarm.member(3).alive = false;
  swarm.run_for(seconds(8));
  CHECK(swarm.coordinator->view(swarm.now).swarm_size == 2);
}

TEST_CASE("a member that leaves is gone at once") {
  Swarm swarm;
  for (int i = 1; i <= 2; ++i) swarm.add(i, 30);
  swarm.run_for(seconds(1));
  wire::Heartbeat beat;
  beat.run_id = "test";
  beat.phase = wire::MemberPhase::leaving;
  (void)swarm.coordinator->on_heartbeat(swarm.now, swarm.wall, {peer_id(2), 1002, ""}, beat);
  CHECK(swarm.coordinator->view(swarm.now).swarm_size == 1);
}

TEST_CASE("a plan that nobody followed is replaced by another") {
  Swarm swarm;
  for (int i = 1; i <= 2; ++i) swarm.add(i, 30);
  while (!swarm.member(1).group) swarm.run_for(milliseconds(5));
  const GroupId lost = swarm.member(1).group->id;
  for (int i = 1; i <= 2; ++i) {  // both lose the plan before they begin
    swarm.member(i).group.reset();
    swarm.member(i).alive = false;
  }
  swarm.run_for(seconds(10));
  for (int i = 1; i <= 2; ++i) {
    swarm.member(i).alive = true;
    swarm.member(i).next_call = swarm.now;
  }
  while (!swarm.member(1).group) swarm.run_for(milliseconds(5));
  CHECK(swarm.member(1).group->id != lost);
  CHECK(swarm.member(1).group->round == 0);
  swarm.run_for(seconds(3));
  CHECK(swarm.decided.size() >= 1);
}

TEST_CASE("everybody killed at once comes back to the same round") {
  Swarm swarm;
  for (int i = 1; i <= 3; ++i) swarm.add(i, 40);
  swarm.run_for(seconds(5));
  for (int i = 1; i <= 3; ++i) swarm.member(i).alive = false;
  swarm.run_for(seconds(20));
  const std::size_t rounds = swarm.decided.size();
  for (int i = 1; i <= 3; ++i) {
    VirtualMember& member = swarm.member(i);
    member.alive = true;
    member.phase = wire::MemberPhase::joining;
    member.group.reset();
    member.synced = false;
    member.samples = 0;
    member.next_call = swarm.now;
  }
  swarm.run_for(seconds(5));
  CHECK(swarm.decided.size() > rounds + 3);
  CHECK(swarm.adopted.empty());
}

TEST_CASE("a coordinator killed at any moment takes up where its store is") {
  for (int kill_ms = 0; kill_ms < 700; kill_ms += 35) {
    CAPTURE(kill_ms);
    Swarm swarm;
    for (int i = 1; i <= 3; ++i) swarm.add(i, 40);
    swarm.run_for(seconds(4) + milliseconds(kill_ms));
    const std::size_t rounds = swarm.decided.size();
    CoordinatorOptions options;
    options.nonce = 77;
    swarm.restart_coordinator(options);
    swarm.run_for(seconds(6));
    CHECK(swarm.decided.size() >= rounds + 4);
    CHECK(swarm.decided.back().contributions.size() == 3);
    CHECK(swarm.adopted.empty());
  }
}

TEST_CASE("random faults: nobody is credited twice, rounds only go on, what is acknowledged is stored") {
  for (std::uint32_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    Swarm swarm;
    for (int i = 1; i <= 6; ++i) swarm.add(i, 5 + static_cast<double>(random() % 30));
    std::map<PeerId, RoundIndex> acknowledged;
    RoundIndex highest = 0;
    for (int event = 0; event < 60; ++event) {
      swarm.run_for(milliseconds(random() % 700));
      VirtualMember& member = swarm.member(1 + static_cast<int>(random() % 6));
      switch (random() % 8) {
        case 0:
        case 1:
          member.alive = false;
          break;
        case 2:
        case 3:
          if (member.alive) break;
          member.alive = true;
          member.group.reset();
          member.samples = 0;
          member.synced = false;
          member.phase = wire::MemberPhase::joining;
          member.next_call = swarm.now;
          break;
        case 4:
          swarm.restart_coordinator({.nonce = random()});
          break;
        case 5:
          swarm.store_takes = random() % 3 != 0;
          break;
        case 6:
          swarm.coordinator_reachable = random() % 4 != 0;
          break;
        default:
          member.paused = random() % 2 == 0;
      }
      const RoundIndex stored = swarm.decided.empty() ? 0 : swarm.decided.back().round + 1;
      for (int i = 1; i <= 6; ++i) {
        const wire::HeartbeatReply& reply = swarm.member(i).last_reply;
        // Beyond the current round it says that a result is void.
        if (reply.acknowledged_rounds <= reply.round) CHECK(reply.acknowledged_rounds <= std::max(stored, highest));
      }
      highest = std::max(highest, stored);
    }
    swarm.store_takes = swarm.coordinator_reachable = true;
    for (int i = 1; i <= 6; ++i) {
      VirtualMember& member = swarm.member(i);
      member.paused = false;
      if (!member.alive) {
        member.alive = true;
        member.group.reset();
        member.synced = false;
        member.phase = wire::MemberPhase::joining;
        member.next_call = swarm.now;
      }
    }
    const std::size_t rounds = swarm.decided.size();
    swarm.run_for(seconds(40));
    CHECK(swarm.decided.size() >= rounds + 10);
    std::set<PeerId> contributors;
    for (std::size_t i = swarm.decided.size() - 5; i < swarm.decided.size(); ++i) {
      for (const CreditedContribution& contribution : swarm.decided[i].contributions) {
        contributors.insert(contribution.peer);
      }
    }
    CHECK(contributors.size() == 6);
  }
}

}  // namespace starling::core::testing
