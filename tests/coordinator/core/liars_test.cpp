// Lies that a single member, or the computers of a single account, can tell the coordinator.
#include <doctest/doctest.h>

#include <numeric>

#include "tests/coordinator/core/swarm_harness.h"

namespace starling::core::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Digest invented() {
  Digest digest;
  digest.bytes.fill(66);
  return digest;
}

// Reports of one member alone, for `rounds` rounds from `first` on, none of which anybody dealt.
std::vector<wire::RoundReport> lone_reports(int number, RoundIndex first, int rounds) {
  std::vector<wire::RoundReport> reports;
  for (int i = 0; i < rounds; ++i) {
    wire::RoundReport report;
    report.round = first + i;
    report.group.bytes.fill(static_cast<std::uint8_t>(100 + i));
    report.members = {peer_id(number)};
    report.contributions = {{peer_id(number), 3840}};
    report.state_digest = invented();
    reports.push_back(report);
  }
  return reports;
}

// Nothing that the liar has said counts, and the others go on undisturbed.
void check_unharmed(Swarm& swarm, std::size_t before, int liar) {
  swarm.run_for(seconds(10));
  CHECK(swarm.decided.size() > before + 10);
  CHECK(swarm.adopted.empty());
  for (const RoundDecided& round : swarm.decided) {
    CHECK(round.state_digest != invented());
    CHECK(round.contributions.size() >= 3);
  }
  for (const auto& [key, samples] : swarm.ledger) {
    if (key.second == peer_id(liar)) CHECK(samples < 200);
  }
}

}  // namespace

TEST_CASE("a lone report of a group that nobody dealt decides nothing and mints nothing") {
  Swarm swarm;
  for (int i = 1; i <= 4; ++i) swarm.add(i, 40);
  swarm.run_for(seconds(5));
  const std::size_t before = swarm.decided.size();
  VirtualMember& liar = swarm.member(4);
  SUBCASE("of the current round") { liar.reports = lone_reports(4, liar.state_round, 1); }
  SUBCASE("of this round and many to come") { liar.reports = lone_reports(4, liar.state_round, 16); }
  SUBCASE("filed ahead") { liar.reports = lone_reports(4, liar.state_round + 1, 16); }
  liar.state = invented();
  liar.state_round += 8;
  const HeartbeatDecision decision = swarm.call(liar);
  for (const StoreOp& op : decision.ops) CHECK(std::holds_alternative<ProbationRestarted>(op));
  CHECK_FALSE(decision.reply.notice.empty());
  check_unharmed(swarm, before, 4);
}

TEST_CASE("a member that reports again and again what it cannot have sits out; after a restart nobody is blamed") {
  Swarm swarm;
  for (int i = 1; i <= 4; ++i) swarm.add(i, 40);
  swarm.run_for(seconds(5));
  const auto seats_of_liar_in = [&swarm](std::size_t rounds) {
    std::size_t seats = 0;
    for (std::size_t i = swarm.decided.size() - rounds; i < swarm.decided.size(); ++i) {
      for (const CreditedContribution& line : swarm.decided[i].contributions) seats += line.peer == peer_id(4) ? 1 : 0;
    }
    return seats;
  };
  VirtualMember& liar = swarm.member(4);
  const auto lie = [&] {
    const VirtualMember honest = liar;
    liar.reports = lone_reports(4, liar.last_reply.round, 1);
    swarm.call(liar);
    liar = honest;
  };
  SUBCASE("two lies within a few rounds") {
    for (int i = 0; i < 2; ++i) {
      lie();
      swarm.run_for(seconds(2));
    }
    swarm.run_for(seconds(2));
    CHECK(seats_of_liar_in(2) == 0);
  }
  SUBCASE("right after a restart, when its groups may have been forgotten") {
    swarm.restart_coordinator();
    for (int i = 0; i < 2; ++i) {
      lie();
      swarm.run_for(seconds(2));
    }
    swarm.run_for(seconds(4));
    CHECK(seats_of_liar_in(2) == 2);
  }
}

TEST_CASE("rounds filed ahead decide nothing when they come up") {
  Swarm swarm;
  for (int i = 1; i <= 4; ++i) swarm.add(i, 40);
  swarm.run_for(seconds(5));
  const std::size_t before = swarm.decided.size();
  VirtualMember& liar = swarm.member(4);
  while (liar.phase != wire::MemberPhase::averaging) swarm.run_for(milliseconds(5));
  // Its own report of the dealt group is true; those that follow it are not.
  wire::RoundReport true_one;
  true_one.round = liar.group->round;
  true_one.group = liar.group->id;
  for (const wire::GroupMember& member : liar.group->members) {
    true_one.members.push_back(member.endpoint.peer);
    true_one.contributions.push_back({member.endpoint.peer, 15});
  }
  true_one.state_digest = invented();
  liar.reports = lone_reports(4, true_one.round + 1, 15);
  liar.reports.insert(liar.reports.begin(), true_one);
  liar.train_on();
  liar.state = invented();
  liar.state_round += 16;
  swarm.call(liar);
  check_unharmed(swarm, before, 4);
}

TEST_CASE(
    "one member that reports the dealt group's result before the others decides nothing, however long they take") {
  Swarm swarm;
  for (int i = 1; i <= 4; ++i) swarm.add(i, 40);
  swarm.run_for(seconds(5));
  swarm.averaging_time = std::chrono::minutes(3);
  VirtualMember& liar = swarm.member(4);
  while (liar.phase != wire::MemberPhase::averaging) swarm.run_for(milliseconds(5));
  const std::size_t before = swarm.decided.size();
  wire::RoundReport lie = lone_reports(4, liar.group->round, 1).front();
  lie.group = liar.group->id;
  lie.members.clear();
  for (const wire::GroupMember& member : liar.group->members) lie.members.push_back(member.endpoint.peer);
  liar.step(lie, wire::GroupInfo(*liar.group));
  liar.alive = false;
  swarm.call(liar);
  swarm.run_for(std::chrono::minutes(2));
  CHECK(swarm.decided.size() == before);
  swarm.run_for(std::chrono::minutes(2));
  REQUIRE(swarm.decided.size() > before);
  CHECK(swarm.decided[before].state_digest != invented());
  CHECK(swarm.decided[before].contributions.size() == 3);
}

TEST_CASE("the computers of one account do not outvote two others") {
  Swarm swarm;
  for (int i = 1; i <= 10; ++i) {
    swarm.add(i, 20);
    if (i > 2) swarm.hosts.accounts[peer_id(i)] = 77;
  }
  swarm.run_for(seconds(5));
  swarm.averaging_time = seconds(2);
  const auto averages = [&](int number) { return swarm.member(number).phase == wire::MemberPhase::averaging; };
  while (!averages(1) || !averages(2) || !averages(10)) swarm.run_for(milliseconds(5));
  const std::size_t before = swarm.decided.size();
  const wire::GroupInfo group = *swarm.member(10).group;
  std::set<std::uint32_t> voters;
  for (const wire::GroupMember& member : group.members) voters.insert(member.voter);
  CHECK(voters.size() == 2);  // those of the account share a number, and the others have none
  wire::RoundReport lie = lone_reports(10, group.round, 1).front();
  lie.group = group.id;
  lie.members.clear();
  for (const wire::GroupMember& member : group.members) lie.members.push_back(member.endpoint.peer);
  for (int i = 3; i <= 10; ++i) {
    if (!averages(i)) continue;
    swarm.member(i).step(lie, group);
    swarm.call(swarm.member(i));
  }
  CHECK(swarm.decided.size() == before);
  swarm.run_for(seconds(4));
  REQUIRE(swarm.decided.size() > before);
  CHECK(swarm.decided[before].state_digest != invented());
}

TEST_CASE("a state that one member claims to be far ahead is not taken when nobody holds the swarm's for a while") {
  Swarm swarm;
  for (int i = 1; i <= 3; ++i) swarm.add(i, 40);
  swarm.run_for(seconds(5));
  for (int i = 1; i <= 3; ++i) swarm.member(i).alive = false;
  VirtualMember& liar = swarm.add(9, 40);
  liar.state = invented();
  liar.state_round = 900'000;
  swarm.run_for(std::chrono::minutes(5));
  CHECK(swarm.adopted.empty());
  const std::size_t before = swarm.decided.size();
  for (int i = 1; i <= 3; ++i) swarm.member(i).alive = true;
  swarm.run_for(seconds(10));
  CHECK(swarm.decided.size() > before + 5);
  CHECK(swarm.decided.back().state_digest != invented());
}

}  // namespace starling::core::testing
