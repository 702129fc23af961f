// Rounds that members average among themselves while the coordinator is away, and its answer to them.
#include <doctest/doctest.h>

#include <numeric>

#include "tests/coordinator/core/swarm_harness.h"

namespace starling::core::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

SampleCount ledger_sum(const Swarm& swarm) {
  return std::accumulate(swarm.ledger.begin(), swarm.ledger.end(), SampleCount{0},
                         [](SampleCount sum, const auto& entry) { return sum + entry.second; });
}

// The members average among themselves, like they do while the coordinator is away: in the successor of the group that
// they last averaged in.
void average_autonomously(Swarm& swarm, const std::vector<int>& members, SampleCount samples) {
  const wire::GroupInfo group = Swarm::successor_group(swarm.member(members.front()));
  wire::RoundReport report;
  report.round = group.round;
  report.autonomous = true;
  report.group = group.id;
  for (const wire::GroupMember& member : group.members) report.members.push_back(member.endpoint.peer);
  for (const int number : members) report.contributions.push_back({peer_id(number), samples});
  report.state_digest = state_after(group.state_digest, report.group);
  for (const int number : members) swarm.member(number).step(report, group);
}

// The round under way ends, and no other is begun.
void pause_between_rounds(Swarm& swarm) {
  swarm.coordinator->set_state(wire::RunState::paused);
  swarm.run_for(seconds(3));
}

}  // namespace

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

TEST_CASE("one whose call had no room for all of its reports is waited for") {
  Swarm swarm;
  for (int i = 1; i <= 3; ++i) swarm.add(i, 400);
  swarm.run_for(seconds(4));
  pause_between_rounds(swarm);
  swarm.coordinator->set_state(wire::RunState::running);
  const std::size_t before = swarm.decided.size();
  swarm.coordinator_reachable = false;
  const int rounds = static_cast<int>(wire::kReportsPerHeartbeatMax) + 4;
  for (int round = 0; round < rounds; ++round) average_autonomously(swarm, {2, 3}, 7);
  swarm.run_for(seconds(20));
  SUBCASE("after a restart") { swarm.restart_coordinator(); }
  SUBCASE("with the same process") {}
  // The third tells its oldest rounds; with the second's they are decided. The second, which hears so, goes on with its
  // latest rounds, while the third, which has not heard, repeats its oldest. The first has nothing to tell.
  for (const int number : {3, 2, 2, 2, 1, 3, 2, 3, 3}) {
    swarm.coordinator_reachable = true;
    swarm.call(swarm.member(number));
    swarm.coordinator_reachable = false;
    swarm.run_for(milliseconds(100));
  }
  swarm.coordinator_reachable = true;
  swarm.run_for(seconds(5));
  REQUIRE(swarm.decided.size() > before + static_cast<std::size_t>(rounds));
  for (int round = 0; round < rounds; ++round) {
    CHECK(swarm.decided[before + static_cast<std::size_t>(round)].contributions.size() == 2);
  }
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

TEST_CASE(
    "a group that half of the accounts have left for good decides nothing, and its members try again without them") {
  Swarm swarm;
  for (int i = 1; i <= 4; ++i) swarm.add(i, 40);
  swarm.run_for(seconds(4));
  pause_between_rounds(swarm);
  const std::size_t before = swarm.decided.size();
  const Digest kept = swarm.member(1).state;
  swarm.coordinator_reachable = false;
  average_autonomously(swarm, {1, 2, 3}, 7);
  for (const int number : {3, 4}) swarm.member(number).alive = false;
  swarm.run_for(seconds(10));
  swarm.coordinator_reachable = true;
  swarm.run_for(seconds(20));
  CHECK(swarm.decided.size() == before);  // the third may come back with an equal result
  swarm.run_for(seconds(20));
  CHECK(swarm.decided.size() == before);
  for (const int number : {1, 2}) {
    CHECK(swarm.member(number).state == kept);
    CHECK(swarm.member(number).samples >= 7);  // they offer the same samples again
  }
  swarm.coordinator->set_state(wire::RunState::running);
  swarm.run_for(seconds(20));
  CHECK(swarm.decided.size() > before + 5);
  CHECK(swarm.adopted.empty());
}

TEST_CASE("a state that nobody holds any more is replaced by the most advanced one that was the swarm's") {
  RecoveredRun recovered = running_run(100, state_after(first_state(), GroupId{}));
  Digest older = first_state();
  older.bytes.fill(50);
  Digest newer = first_state();
  newer.bytes.fill(95);
  Digest invented = first_state();
  invented.bytes.fill(99);
  recovered.states = {{50, older}, {95, newer}};
  Swarm swarm(small_manifest(), recovered);
  for (int i = 1; i <= 4; ++i) {
    VirtualMember& member = swarm.add(i, 40);
    member.state = i == 4 ? invented : i == 2 ? newer : older;
    member.state_round = i == 4 ? 99 : i == 2 ? 95 : 50;
  }
  swarm.run_for(seconds(8));
  CHECK(swarm.adopted.empty());
  swarm.run_for(seconds(8));
  REQUIRE(swarm.adopted.size() == 1);
  CHECK(swarm.adopted[0].round == 100);
  CHECK(swarm.adopted[0].state_digest == newer);
  CHECK(swarm.adopted[0].ground == StateAdopted::Ground::decided);
  swarm.run_for(seconds(5));
  REQUIRE_FALSE(swarm.decided.empty());
  CHECK(swarm.decided.front().round == 100);
  CHECK(swarm.decided.back().contributions.size() == 4);
}

namespace {

// A store that was set back to round 10; three accounts were credited with the round before.
RecoveredRun set_back() {
  RecoveredRun recovered = running_run(10, state_after(first_state(), GroupId{}));
  recovered.last_group.bytes.fill(7);
  for (int i = 1; i <= 3; ++i) recovered.last_credited.push_back({peer_id(i), 1000 + i});
  return recovered;
}

}  // namespace

TEST_CASE("a store set back in time jumps forward to what most accounts of its last group have") {
  Swarm swarm(small_manifest(), set_back());
  for (int i = 1; i <= 2; ++i) swarm.add(i, 40).state_round = 30;
  swarm.run_for(seconds(20));
  REQUIRE(swarm.adopted.size() == 1);
  CHECK(swarm.adopted[0].round == 30);
  CHECK(swarm.adopted[0].ground == StateAdopted::Ground::vouched);
  REQUIRE_FALSE(swarm.decided.empty());
  CHECK(swarm.decided.front().round == 30);
}

TEST_CASE("a store set back in time does not follow one member of its last group, nor strangers") {
  Swarm swarm(small_manifest(), set_back());
  for (const int number : {1, 4, 5, 6}) {
    VirtualMember& member = swarm.add(number, 40);
    member.state.bytes.fill(9);
    member.state_round = 30;
  }
  swarm.run_for(std::chrono::minutes(3));
  CHECK(swarm.adopted.empty());
  CHECK(swarm.decided.empty());
}

TEST_CASE("rounds of which the reports are lost are jumped over when most accounts hold what came of them") {
  Swarm swarm;
  for (int i = 1; i <= 3; ++i) swarm.add(i, 40);
  swarm.run_for(seconds(4));
  pause_between_rounds(swarm);
  const std::size_t before = swarm.decided.size();
  swarm.coordinator_reachable = false;
  for (int round = 0; round < 2; ++round) average_autonomously(swarm, {1, 2, 3}, 9);
  for (int i = 1; i <= 3; ++i) swarm.member(i).reports.clear();
  swarm.run_for(seconds(10));
  swarm.coordinator_reachable = true;
  swarm.run_for(seconds(30));
  REQUIRE(swarm.adopted.size() == 1);
  CHECK(swarm.adopted[0].ground == StateAdopted::Ground::vouched);
  CHECK(swarm.member(1).last_reply.round == static_cast<RoundIndex>(before) + 2);
  swarm.coordinator->set_state(wire::RunState::running);
  swarm.run_for(seconds(5));
  CHECK(swarm.decided.size() > before + 2);
}

TEST_CASE("members that formed groups while an older coordinator was replaced are credited by those that it credited") {
  Swarm swarm;
  for (int i = 1; i <= 3; ++i) swarm.add(i, 40);
  swarm.run_for(seconds(4));
  pause_between_rounds(swarm);
  const std::size_t before = swarm.decided.size();
  swarm.coordinator_reachable = false;
  for (int round = 0; round < 5; ++round) average_autonomously(swarm, {1, 2, 3}, 7);
  swarm.groups.clear();  // an older version keeps none
  swarm.restart_coordinator();
  swarm.coordinator_reachable = true;
  swarm.run_for(seconds(10));
  CHECK(swarm.decided.size() >= before + 5);
  CHECK(swarm.member(1).reports.empty());
  CHECK(swarm.adopted.empty());
}

TEST_CASE("rounds that a coordinator decided and dealt with a full disk are decided again after its restart") {
  Swarm swarm;
  for (int i = 1; i <= 3; ++i) swarm.add(i, 40);
  swarm.run_for(seconds(4));
  swarm.store_takes = false;
  swarm.run_for(seconds(2));
  const RoundIndex reached = swarm.member(1).last_reply.round;
  CHECK(reached > static_cast<RoundIndex>(swarm.decided.size()) + 1);
  swarm.coordinator->set_state(wire::RunState::paused);
  swarm.run_for(seconds(2));
  swarm.restart_coordinator();
  swarm.coordinator->set_state(wire::RunState::paused);
  swarm.store_takes = true;
  swarm.run_for(seconds(10));
  CHECK(swarm.decided.size() >= static_cast<std::size_t>(reached));
  CHECK(swarm.adopted.empty());
  SampleCount averaged = 0;
  for (const auto& [peer, samples] : swarm.averaged) averaged += samples;
  CHECK(ledger_sum(swarm) == averaged);
}

TEST_CASE("a coordinator that is killed with a full disk at any moment finds its rounds again") {
  for (int kill_ms = 0; kill_ms < 700; kill_ms += 35) {
    CAPTURE(kill_ms);
    Swarm swarm;
    for (int i = 1; i <= 4; ++i) swarm.add(i, 40);
    swarm.run_for(seconds(4));
    swarm.store_takes = false;
    swarm.run_for(seconds(2) + milliseconds(kill_ms));
    const RoundIndex reached = swarm.member(1).last_reply.round;
    CHECK(reached > static_cast<RoundIndex>(swarm.decided.size()) + 1);
    swarm.coordinator_reachable = false;
    if (kill_ms % 70 == 0) {  // and its members go on by themselves
      swarm.run_for(seconds(1));
      for (int round = 0; round < 2; ++round) average_autonomously(swarm, {1, 2, 3, 4}, 7);
    }
    swarm.restart_coordinator({.nonce = 77});
    swarm.coordinator_reachable = swarm.store_takes = true;
    swarm.run_for(seconds(10));
    CHECK(swarm.decided.size() > static_cast<std::size_t>(reached));
    CHECK(swarm.adopted.empty());
    std::vector<RoundIndex> rounds;
    for (const RoundDecided& round : swarm.decided) rounds.push_back(round.round);
    CHECK(rounds.size() == static_cast<std::size_t>(rounds.back()) + 1);
    const SampleCount autonomous = kill_ms % 70 == 0 ? 2 * 4 * 7 : 0;
    SampleCount averaged = autonomous;
    for (const auto& [peer, samples] : swarm.averaged) averaged += samples;
    CHECK(ledger_sum(swarm) <= averaged);
    CHECK(averaged - ledger_sum(swarm) <= 4 * 40);  // the round under way
  }
}

}  // namespace starling::core::testing
