// What happens when members vanish, the coordinator restarts, or rounds go on without it.
#include <doctest/doctest.h>

#include <numeric>
#include <random>

#include "tests/coordinator/core/swarm_harness.h"

namespace starling::core::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

SampleCount ledger_sum(const Swarm& swarm) {
  return std::accumulate(swarm.ledger.begin(), swarm.ledger.end(), SampleCount{0},
                         [](SampleCount sum, const auto& entry) { return sum + entry.second; });
}

// The group `members` of `swarm` average among themselves, as they do while the coordinator is away.
void average_autonomously(Swarm& swarm, const std::vector<int>& members, SampleCount samples) {
  wire::RoundReport report;
  VirtualMember& first = swarm.member(members.front());
  report.round = first.state_round;
  report.autonomous = true;
  report.group.bytes.fill(static_cast<std::uint8_t>(0x40 + report.round));
  for (int number : members) {
    report.members.push_back(peer_id(number));
    report.contributions.push_back({peer_id(number), samples});
  }
  report.state_digest = state_after(first.state, report.group);
  for (int number : members) {
    VirtualMember& member = swarm.member(number);
    member.step(report);
  }
}

// The round under way ends, and no other is begun.
void pause_between_rounds(Swarm& swarm) {
  swarm.coordinator->set_state(wire::RunState::paused);
  swarm.run_for(seconds(3));
}

}  // namespace

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

TEST_CASE("rounds averaged while the coordinator was away are credited in order, once") {
  Swarm swarm;
  for (int i = 1; i <= 3; ++i) swarm.add(i, 40);
  swarm.run_for(seconds(4));
  pause_between_rounds(swarm);
  const std::size_t before = swarm.decided.size();
  const SampleCount credited = ledger_sum(swarm);
  swarm.coordinator_reachable = false;
  for (int round = 0; round < 40; ++round) average_autonomously(swarm, {1, 2, 3}, 7);
  swarm.run_for(seconds(10));
  swarm.coordinator_reachable = true;
  SUBCASE("after a restart") { swarm.restart_coordinator(); }
  SUBCASE("with the same process") {}
  swarm.coordinator->set_state(wire::RunState::paused);
  swarm.run_for(seconds(10));
  CHECK(swarm.decided.size() == before + 40);
  CHECK(ledger_sum(swarm) == credited + 40 * 3 * 7);
  CHECK(swarm.member(1).reports.empty());
  swarm.coordinator->set_state(wire::RunState::running);
  swarm.run_for(seconds(5));
  CHECK(swarm.decided.size() > before + 43);
}

TEST_CASE("hundreds of rounds averaged while the coordinator was away are told within seconds") {
  Swarm swarm;
  for (int i = 1; i <= 3; ++i) swarm.add(i, 40);
  swarm.run_for(seconds(4));
  pause_between_rounds(swarm);
  const std::size_t before = swarm.decided.size();
  swarm.coordinator_reachable = false;
  for (int round = 0; round < 500; ++round) average_autonomously(swarm, {1, 2, 3}, 7);
  swarm.run_for(seconds(10));
  swarm.coordinator_reachable = true;
  swarm.run_for(seconds(8));
  CHECK(swarm.decided.size() == before + 500);
}

TEST_CASE("whoever is back first after an absence does not go on without the others") {
  Swarm swarm;
  for (int i = 1; i <= 3; ++i) swarm.add(i, 400);
  swarm.run_for(seconds(4));
  pause_between_rounds(swarm);
  swarm.coordinator->set_state(wire::RunState::running);
  const std::size_t before = swarm.decided.size();
  swarm.coordinator_reachable = false;
  for (int round = 0; round < 5; ++round) average_autonomously(swarm, {2, 3}, 7);
  swarm.run_for(seconds(20));
  SUBCASE("after a restart") { swarm.restart_coordinator(); }
  SUBCASE("with the same process") {}
  for (int call = 0; call < 50; ++call) {  // the first one sat it out
    swarm.coordinator_reachable = true;
    swarm.call(swarm.member(1));
    swarm.coordinator_reachable = false;
    swarm.run_for(milliseconds(100));
  }
  swarm.coordinator_reachable = true;
  swarm.run_for(seconds(5));
  REQUIRE(swarm.decided.size() > before + 5);
  for (std::size_t round = before; round < before + 5; ++round) CHECK(swarm.decided[round].contributions.size() == 2);
  CHECK(swarm.member(1).synced);
}

TEST_CASE("one that averages in a group formed without the coordinator is not the only one of it") {
  Swarm swarm;
  for (int i = 1; i <= 3; ++i) swarm.add(i, 400);
  swarm.run_for(seconds(4));
  pause_between_rounds(swarm);
  swarm.restart_coordinator();
  swarm.coordinator->set_state(wire::RunState::running);
  const std::size_t before = swarm.decided.size();
  // The first is back and trains. The second calls from an averaging that waits long for the first; the third is away.
  swarm.coordinator_reachable = false;
  VirtualMember& second = swarm.member(2);
  for (int call = 0; call < 150; ++call) {
    swarm.coordinator_reachable = true;
    swarm.call(swarm.member(1));
    second.phase = wire::MemberPhase::averaging;
    swarm.call(second);
    second.phase = wire::MemberPhase::training;
    swarm.coordinator_reachable = false;
    swarm.run_for(milliseconds(100));
  }
  CHECK(swarm.decided.size() == before);
  average_autonomously(swarm, {2, 3}, 7);
  swarm.coordinator_reachable = true;
  swarm.run_for(seconds(5));
  REQUIRE(swarm.decided.size() > before);
  CHECK(swarm.decided[before].contributions.size() == 2);
  CHECK(swarm.member(1).synced);
}

TEST_CASE("when most of a group are gone for good, those who are left go on") {
  Swarm swarm;
  for (int i = 1; i <= 5; ++i) swarm.add(i, 40);
  swarm.run_for(seconds(5));
  for (int i = 2; i <= 5; ++i) swarm.member(i).alive = false;
  const std::size_t before = swarm.decided.size();
  swarm.run_for(seconds(30));
  CHECK(swarm.decided.size() > before + 5);
  CHECK(swarm.decided.back().contributions.size() == 1);
}

TEST_CASE("one member's story of a round without the others waits for them") {
  Swarm swarm;
  for (int i = 1; i <= 5; ++i) swarm.add(i, 0.01);
  swarm.run_for(seconds(4));
  average_autonomously(swarm, {5}, 60);  // in a group with itself alone
  swarm.call(swarm.member(5));
  CHECK(swarm.decided.empty());
  average_autonomously(swarm, {1, 2, 3, 4}, 9);
  for (int i = 1; i <= 4; ++i) swarm.call(swarm.member(i));
  swarm.run_for(milliseconds(50));
  REQUIRE(swarm.decided.size() == 1);
  CHECK(swarm.decided[0].contributions.size() == 4);
  swarm.run_for(seconds(2));
  CHECK(swarm.member(5).synced);
  CHECK(swarm.member(5).state == swarm.decided[0].state_digest);
}

TEST_CASE("a state that nobody holds any more is replaced by the most advanced one") {
  Swarm swarm(small_manifest(), running_run(100, state_after(first_state(), GroupId{})));
  Digest older = first_state();
  older.bytes.fill(50);
  Digest newer = first_state();
  newer.bytes.fill(95);
  for (int i = 1; i <= 3; ++i) {
    VirtualMember& member = swarm.add(i, 40);
    member.state = i == 2 ? newer : older;
    member.state_round = i == 2 ? 95 : 50;
  }
  swarm.run_for(seconds(8));
  CHECK(swarm.adopted.empty());
  swarm.run_for(seconds(8));
  REQUIRE(swarm.adopted.size() == 1);
  CHECK(swarm.adopted[0].round == 100);
  CHECK(swarm.adopted[0].state_digest == newer);
  swarm.run_for(seconds(5));
  REQUIRE_FALSE(swarm.decided.empty());
  CHECK(swarm.decided.front().round == 100);
  CHECK(swarm.decided.back().contributions.size() == 3);
}

TEST_CASE("a store set back in time jumps forward to what the members have") {
  Swarm swarm(small_manifest(), running_run(10, state_after(first_state(), GroupId{})));
  for (int i = 1; i <= 2; ++i) {
    swarm.add(i, 40).state_round = 30;
  }
  swarm.run_for(seconds(20));
  REQUIRE(swarm.adopted.size() == 1);
  CHECK(swarm.adopted[0].round == 30);
  REQUIRE_FALSE(swarm.decided.empty());
  CHECK(swarm.decided.front().round == 30);
}

TEST_CASE("a gap in the members' reports is jumped over") {
  Swarm swarm;
  for (int i = 1; i <= 3; ++i) swarm.add(i, 0.01);
  swarm.run_for(seconds(4));
  average_autonomously(swarm, {1, 2, 3}, 9);
  for (int i = 1; i <= 3; ++i) swarm.member(i).reports.clear();  // round 0 is lost
  average_autonomously(swarm, {1, 2, 3}, 9);
  swarm.run_for(seconds(30));
  REQUIRE(swarm.decided.size() == 1);
  CHECK(swarm.decided[0].round == 1);
  CHECK(swarm.member(1).last_reply.round == 2);
  CHECK(swarm.member(1).reports.empty());
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
        CHECK(reply.acknowledged_rounds <= std::max(stored, highest));
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
